// Learning curves of a sweep's trials.
#pragma once

#include "report/page_json.hpp"
#include "report/sweep_page.hpp"

namespace emplace::report {

struct SweepCurves {
  Json lines = Json::array();  // {"trial", "seed" (with several), "x": {"update": [...], ...}, "best": [...]}
  std::size_t drawn = 0;
  std::size_t total = 0;  // trials with a metrics.csv, also where nothing feasible is in it
  bool sampled = false;   // not all of them were asked for a line
};
// The best of them, and of the others some along the whole scale. A trial of several seeds is shown by the training of
// the middle seed, whose best step time is about its objective.
SweepCurves sweep_curves(const experiment::SweepFolder& folder, const SweepPageLimits& limits);

}  // namespace emplace::report
