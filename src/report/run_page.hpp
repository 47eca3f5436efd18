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

// Whether the folder has the config.toml of a training.
bool is_run_folder(const std::string& path);
// `folders`: those of 1 to most_runs_on_a_page runs. Returns the page and writes no file. InputError for a damaged
// config.toml or metrics.csv; for a problem or placement that cannot be read, the page shows the reason instead.
RunPage run_page(std::span<const std::string> folders, std::size_t most_points = 500);

}  // namespace emplace::report
