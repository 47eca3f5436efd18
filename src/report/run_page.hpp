// Trainings as a page for a browser: learning curves, of several runs over one another, and what each run found: the
// step of its best placement, memory, the graph by groups, and what other placers come to.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace emplace::report {

struct RunPage {
  std::string html;
  std::size_t points = 0;      // of all runs' curves
  std::size_t placements = 0;  // those that are shown
};

inline constexpr std::size_t most_runs_on_a_page = 24;

// Whether config.toml there is that of a training.
bool is_run_folder(const std::string& path);
// `folders`: of 1 to most_runs_on_a_page runs. Writes nothing. InputError for a damaged config.toml or metrics.csv; of
// a problem or placement that cannot be read any more the page says so in its place.
RunPage run_page(std::span<const std::string> folders, std::size_t most_points = 500);

}  // namespace emplace::report
