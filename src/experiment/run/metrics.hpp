// Reads metrics.csv for a plot, into as many points as the plot can show, however many updates there were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace emplace::experiment {

struct MetricsColumn {
  std::string name;
  std::vector<double> values;  // one per point; NaN if there is no number
};

// A point combines `updates_per_point` updates, the last point at most so many. For columns that only grow or fall
// (`update`, `evaluations`, `best_step_time`, clocks: wall_...) its value is that of the last update, for other columns
// the mean of the values that are numbers.
struct Metrics {
  std::vector<MetricsColumn> columns;
  std::uint64_t updates = 0;  // rows of the file
  std::uint64_t updates_per_point = 1;

  [[nodiscard]] std::size_t points() const { return columns.empty() ? 0 : columns.front().values.size(); }
  // Null if there is no column of this name.
  [[nodiscard]] const std::vector<double>* find(std::string_view name) const;
};

// Returns at most `most_points` points (at least 2) and uses memory that does not grow with the file. Returns no
// columns if there is no file or no row yet; ignores a last line that is still being written. InputError, with the
// line, for rows of another length than the header, cells that are not numbers, and a header without `update` and
// `evaluations`, with a name twice or with more than 1000 names.
Metrics read_metrics(const std::string& path, std::size_t most_points);

}  // namespace emplace::experiment
