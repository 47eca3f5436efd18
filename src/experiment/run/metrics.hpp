// metrics.csv read for a picture: as many points as a picture can show, however many updates there were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace emplace::experiment {

struct MetricsColumn {
  std::string name;
  std::vector<double> values;  // one a point; NaN where there is no number
};

// A point stands for `updates_per_point` updates, the last one for at most so many. Of what only grows or falls
// (`update`, `evaluations`, `best_step_time`, clocks: wall_...) it has the last value, of other columns the mean of
// those that are numbers.
struct Metrics {
  std::vector<MetricsColumn> columns;
  std::uint64_t updates = 0;  // rows of the file
  std::uint64_t updates_per_point = 1;

  [[nodiscard]] std::size_t points() const { return columns.empty() ? 0 : columns.front().values.size(); }
  // Null where there is none of this name.
  [[nodiscard]] const std::vector<double>* find(std::string_view name) const;
};

// At most `most_points` points (at least 2), in memory that does not grow with the file. No columns where there is no
// file or no row yet; a last line that is just being written is left out. InputError with the line for rows of another
// length than the header, cells that are no number, and a header without `update` and `evaluations`, with a name twice
// or with more than 1000 names.
Metrics read_metrics(const std::string& path, std::size_t most_points);

}  // namespace emplace::experiment
