// Trainings as a page for a browser: the learning curves of all runs in one chart, and what each run found: the step of
// its best placement, memory, the graph by groups, and the results of other placers.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace emplace::report {

struct RunPage {
  std::string html;
  std::size_t points = 0;      // on the curves of all runs together
  std::size_t placements = 0;  // placements shown
};

inline constexpr std::size_t most_runs_on_a_page = 24;

struct RunPageLimits {
  std::size_t points = 500;  // on a curve
  double bound_seconds = 4;  // to prove the bound of a problem; with many problems less for each
};

// Whether the folder has the config.toml of a training.
bool is_run_folder(const std::string& path);
// `folders`: those of 1 to most_runs_on_a_page runs. Returns the page; of files it writes only the bounds, into the
// folders of the runs (report/proved_bound.hpp). InputError for a damaged
// config.toml or metrics.csv; for a problem or placement that cannot be read, the page shows the reason instead.
RunPage run_page(std::span<const std::string> folders, const RunPageLimits& limits = {});

}  // namespace emplace::report
