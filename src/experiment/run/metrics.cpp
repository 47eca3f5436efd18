#include "experiment/run/metrics.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::experiment {

namespace {

constexpr std::size_t longest_line = 1 << 16, most_columns = 1000;

bool takes_last(std::string_view column) {
  return column == "update" || column == "evaluations" || column == "best_step_time" || column.starts_with("wall_");
}

// Reads a file line by line.
class Lines {
 public:
  explicit Lines(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb"), &std::fclose) {
    if (!file_) throw InputError(path, "{}", why_unreadable(path, errno));
  }
  // False at the end, and for a last line without a line break, as it is still being written.
  bool next(std::string& line) {
    line.clear();
    ++number_;
    for (int c = 0; (c = std::getc(file_.get())) != EOF;) {
      if (c == '\n') return true;
      if (line.size() == longest_line) throw InputError(place(), "is longer than {} bytes: damaged", longest_line);
      line.push_back(static_cast<char>(c));
    }
    if (std::ferror(file_.get()) != 0) throw EnvironmentError("{}: cannot be read", path_);
    return false;
  }
  [[nodiscard]] std::string place() const { return fmt::format("{}:{}", path_, number_); }

 private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::size_t number_ = 0;
};

// Combines rows into points; doubles the number of rows per point whenever there are too many points.
class MetricPoints {
 public:
  MetricPoints(std::vector<std::string> names, std::size_t most) : most_(most) {
    for (std::string& name : names) {
      last_.push_back(takes_last(name));
      columns_.push_back({std::move(name), {}, {}});
    }
  }

  void add(std::span<const double> row) {
    if (rows_ == points_ * per_point_) {
      if (points_ == most_) halve();
      if (rows_ == points_ * per_point_) {
        ++points_;
        for (Column& column : columns_) {
          column.sum.push_back(std::nan(""));
          column.count.push_back(0);
        }
      }
    }
    ++rows_;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (std::isfinite(row[c])) put(c, points_ - 1, row[c], 1);
  }

  [[nodiscard]] Metrics metrics() && {
    Metrics metrics{.columns = {}, .updates = rows_, .updates_per_point = per_point_};
    if (rows_ == 0) return metrics;
    for (Column& column : columns_) {
      for (std::size_t i = 0; i < points_; ++i)
        if (column.count[i] > 0) column.sum[i] /= static_cast<double>(column.count[i]);
      metrics.columns.push_back({std::move(column.name), std::move(column.sum)});
    }
    return metrics;
  }

 private:
  struct Column {
    std::string name;
    std::vector<double> sum;  // per point, of `count` values; NaN if there are none
    std::vector<std::uint64_t> count;
  };

  void put(std::size_t c, std::size_t point, double sum, std::uint64_t count) {
    Column& column = columns_[c];
    const bool replace = last_[c] || column.count[point] == 0;
    column.sum[point] = replace ? sum : column.sum[point] + sum;
    column.count[point] = last_[c] ? 1 : column.count[point] + count;
  }

  void halve() {
    const std::size_t fewer = (points_ + 1) / 2;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column before = std::move(columns_[c]);
      columns_[c] = {before.name, std::vector<double>(fewer, std::nan("")), std::vector<std::uint64_t>(fewer)};
      for (std::size_t i = 0; i < points_; ++i)
        if (before.count[i] > 0) put(c, i / 2, before.sum[i], before.count[i]);
    }
    points_ = fewer;
    per_point_ *= 2;
  }

  std::size_t most_;
  std::vector<Column> columns_;
  std::vector<bool> last_;
  std::size_t points_ = 0;
  std::uint64_t rows_ = 0, per_point_ = 1;
};

void check_header(const std::vector<std::string>& names, const std::string& place) {
  for (const char* wanted : {"update", "evaluations"})
    if (std::ranges::find(names, wanted) == names.end())
      throw InputError(place, "has no column '{}', so it is no header of a metrics.csv", wanted);
  if (names.size() > most_columns)
    throw InputError(place, "has {} columns, at most {} are read: damaged", names.size(), most_columns);
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw InputError(place, "has the column {} twice", quote(*twice));
}

}  // namespace

const std::vector<double>* Metrics::find(std::string_view name) const {
  const auto found = std::ranges::find(columns, name, &MetricsColumn::name);
  return found == columns.end() ? nullptr : &found->values;
}

Metrics read_metrics(const std::string& path, std::size_t most_points) {
  EMPLACE_CHECK(most_points >= 2);
  if (!file_exists(path)) return {};
  if (!std::filesystem::is_regular_file(path)) throw InputError(path, "is no regular file, wanted a metrics.csv");
  Lines lines(path);
  std::string line;
  if (!lines.next(line)) return {};
  const std::vector<std::string> names = split(line, ',');
  check_header(names, lines.place());
  MetricPoints points(names, most_points);
  std::vector<double> row(names.size());
  while (lines.next(line)) {
    const std::vector<std::string> cells = split(line, ',');
    if (cells.size() != names.size())
      throw InputError(lines.place(), "has {} cells, wanted {} as in the header", cells.size(), names.size());
    for (std::size_t c = 0; c < cells.size(); ++c) {
      row[c] = std::nan("");  // an empty cell
      if (!cells[c].empty() && !parse_number(cells[c], row[c]))
        throw InputError(lines.place(), "column {}: found {}, wanted a number or nothing", quote(names[c]),
                         quote(cells[c]));
    }
    points.add(row);
  }
  return std::move(points).metrics();
}

}  // namespace emplace::experiment
