// Learning curves of a sweep's trials.
#pragma once

#include "report/page_json.hpp"
#include "report/sweep_page.hpp"

namespace emplace::report {

struct SweepCurves {
  Json lines = Json::array();  // {"trial", "seed" (with several), "x": {"update": [...], ...}, "best": [...]}
  std::size_t drawn = 0;
  std::size_t total = 0;  // trials with a metrics.csv, also those that found nothing feasible
  bool sampled = false;   // true if the lines are only a selection of the trials
};
// Curves of the best trials and of others from the whole range of results. A trial of several seeds is shown by the
// seed with the median result, which is about the trial's objective.
SweepCurves sweep_curves(const experiment::SweepFolder& folder, const SweepPageLimits& limits);

}  // namespace emplace::report
