#include "experiment/run/metrics_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <set>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::experiment {

namespace {

constexpr std::size_t longest_header = 1 << 16;

// The number of complete lines, without the header.
std::size_t rows_in(const std::string& text) {
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  return lines == 0 ? 0 : lines - 1;
}

// The header, "" if there is no complete one.
std::string header_in(const std::string& text) {
  const std::size_t end = text.find('\n');
  return end == std::string::npos ? "" : text.substr(0, end);
}

std::string cell_text(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}  // empty: not a number

const std::vector<double>* column_of(const MetricsHistory& history, const std::string& name) {
  const auto found = std::ranges::find(history, name, &MetricsHistory::value_type::first);
  return found == history.end() ? nullptr : &found->second;
}

// The columns of an existing header, each of which must be in the history.
std::vector<std::string> check_columns(const std::string& header, const MetricsHistory& history,
                                       const std::string& path) {
  if (header.size() > longest_header)
    throw InputError(path + ":1", "is longer than {} bytes: damaged; without the file a resumed run writes it again",
                     longest_header);
  std::vector<std::string> known;
  for (const auto& [name, values] : history) known.push_back(name);
  std::set<std::string> seen;
  std::vector<std::string> columns = split(header, ',');
  for (const std::string& name : columns) {
    if (column_of(history, name) == nullptr)
      throw InputError(
          path + ":1",
          "has a column {} that the run does not have{}: give it its name again, or remove the file, which a "
          "resumed run then writes again",
          quote(name), did_you_mean(name, known));
    if (!seen.insert(name).second) throw InputError(path + ":1", "has the column {} twice", quote(name));
  }
  return columns;
}

}  // namespace

MetricsFile::MetricsFile(std::string path, std::size_t rows) : path_(std::move(path)) {
  std::string kept;
  if (rows > 0 && file_exists(path_)) {
    const std::string text = read_file(path_);
    std::size_t end = 0;
    for (std::size_t line = 0; line <= rows; ++line) {  // the header and `rows` rows
      const std::size_t next = text.find('\n', end);
      if (next == std::string::npos) break;
      end = next + 1;
    }
    kept = text.substr(0, end);
    header_ = header_in(kept);
  }
  open(kept);
}

std::vector<std::string> columns_of_metrics(const std::string& path) {
  return file_exists(path) ? split(header_in(read_file(path)), ',') : std::vector<std::string>();
}

MetricsFile::MetricsFile(std::string path, const MetricsHistory& history) : path_(std::move(path)) {
  const std::string before = file_exists(path_) ? read_file(path_) : "";
  const std::size_t rows = history.empty() ? 0 : history.front().second.size();
  if (rows == 0) {
    open("");
    return;
  }
  std::vector<std::string> columns;
  header_ = header_in(before);
  if (header_.empty()) {
    for (const auto& [name, values] : history) columns.push_back(name);
    header_ = join(columns, ",");
  } else {
    columns = check_columns(header_, history, path_);
  }
  if (const std::size_t there = rows_in(before); there < rows)
    log_warning("{}: has {} of the {} rows up to the checkpoint; they are written again from there", path_, there,
                rows);
  std::vector<const std::vector<double>*> values;
  for (const std::string& name : columns) values.push_back(column_of(history, name));
  std::string text = header_ + "\n";
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t c = 0; c < values.size(); ++c)
      text += cell_text((*values[c])[row]) + (c + 1 < values.size() ? "," : "\n");
  open(text);
}

void MetricsFile::open(const std::string& content) {
  write_file(path_, content);
  file_ = std::fopen(path_.c_str(), "a");
  if (file_ == nullptr) throw EnvironmentError("{}: cannot be written: {}", path_, std::strerror(errno));
}

MetricsFile::~MetricsFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void MetricsFile::add(const std::vector<std::pair<std::string, double>>& row) {
  if (header_.empty()) {
    std::vector<std::string> names;
    for (const auto& [name, value] : row) names.push_back(name);
    header_ = join(names, ",");
    fmt::print(file_, "{}\n", header_);
  }
  // A run that an older version of the program began keeps the columns that it has.
  std::vector<std::string> values;
  for (const std::string& name : split(header_, ',')) {
    const auto found = std::ranges::find(row, name, &std::pair<std::string, double>::first);
    values.push_back(found == row.end() ? "" : cell_text(found->second));
  }
  fmt::print(file_, "{}\n", join(values, ","));
  if (std::fflush(file_) != 0) throw EnvironmentError("{}: cannot be written: {}", path_, std::strerror(errno));
}

}  // namespace emplace::experiment
