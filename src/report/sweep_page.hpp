// A sweep as a page for a browser: the trials, their results, and which parameters mattered.
#pragma once

#include <cstddef>
#include <string>

#include "experiment/sweep/sweep_folder.hpp"
#include "report/head.hpp"

namespace emplace::report {

struct SweepPage {
  std::string html;
  std::size_t trials = 0;        // in the charts and the table: all, or the best if there are too many
  std::size_t trials_total = 0;  // of the sweep
  std::size_t curves = 0;        // learning curves, one for each trial
  std::size_t curves_total = 0;  // trials with a metrics.csv, also those that found nothing feasible
};

struct SweepPageLimits {
  std::size_t trials = 5000;
  std::size_t curves = 50;
  std::size_t points = 300;  // of a curve
};

// Reads the metrics.csv of the trials whose curves it draws; InputError for a damaged one. `head`: of the best trial.
SweepPage sweep_page(const experiment::SweepFolder& folder, const SweepPageLimits& limits = {},
                     const verdict::Verdict& head = {});

}  // namespace emplace::report
