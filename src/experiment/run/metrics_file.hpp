// Writes metrics.csv.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace emplace::experiment {

// The columns of the updates so far, in the order of a new file. Each has a value for every update.
using MetricsHistory = std::vector<std::pair<std::string, std::vector<double>>>;

// The names in the first line of the file; none if there is no file.
std::vector<std::string> columns_of_metrics(const std::string& path);

// metrics.csv: one row per update. Columns are fixed by the first row; clock columns start with "wall_".
class MetricsFile {
 public:
  // Keeps the first `rows` rows of an existing file.
  MetricsFile(std::string path, std::size_t rows);
  // For a run that continues from a checkpoint with this history: the file gets exactly the rows of the history, so
  // that rows which were lost are there again (with a warning). It keeps the columns that it has; InputError for a
  // column that the history does not have.
  MetricsFile(std::string path, const MetricsHistory& history);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  void add(const std::vector<std::pair<std::string, double>>& row);

 private:
  void open(const std::string& content);

  std::string path_;
  std::string header_;
  std::FILE* file_ = nullptr;
};

}  // namespace emplace::experiment
