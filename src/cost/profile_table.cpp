// Parses tables with one row for each op and times in one or several columns.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/text.hpp"
#include "cost/profile_forms.hpp"
#include "emplace/base/error.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::cost {

namespace {

class Table {
 public:
  Table(std::string_view text, const std::string& file) : text_(text), file_(file) {
    if (!next()) throw InputError(file, "the profile is empty");
    separator_ = line_.find('\t') != std::string_view::npos ? '\t' : ',';
    split_line();
  }

  // The cells of the next line that is not empty.
  bool next_row() {
    do
      if (!next()) return false;
    while (line_.empty());
    split_line();
    return true;
  }
  [[nodiscard]] const std::vector<std::string>& cells() const { return cells_; }
  [[nodiscard]] std::string place() const { return fmt::format("{}:{}", file_, number_); }
  [[nodiscard]] std::uint32_t number() const { return number_; }

 private:
  bool next() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = text_.substr(at_, end - at_);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    at_ = end + 1;
    ++number_;
    return true;
  }

  void split_line() {
    cells_.clear();
    std::size_t i = 0;
    while (true) {
      std::string cell;
      if (separator_ == ',' && i < line_.size() && line_[i] == '"') {
        ++i;
        // "" inside quotes is one quote (RFC 4180).
        for (; i < line_.size() && (line_[i] != '"' || (i + 1 < line_.size() && line_[i + 1] == '"')); ++i) {
          if (line_[i] == '"') ++i;
          cell += line_[i];
        }
        if (i == line_.size()) throw InputError(place(), "a double quote is opened and not closed on the line");
        ++i;
        if (i < line_.size() && line_[i] != separator_)
          throw InputError(place(), "expected a comma after a quoted field, found {}", quote(line_.substr(i, 1)));
      } else {
        const std::size_t end = std::min(line_.find(separator_, i), line_.size());
        cell = line_.substr(i, end - i);
        i = end;
      }
      cells_.push_back(std::move(cell));
      if (i >= line_.size()) return;
      ++i;
    }
  }

  std::string_view text_, line_;
  const std::string& file_;
  char separator_ = ',';
  std::size_t at_ = 0;
  std::uint32_t number_ = 0;
  std::vector<std::string> cells_;
};

struct Column {
  std::size_t position;
  double seconds_per_unit;
};

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr Unit units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};

// Parses "gpu:0 (ms)" into the name and the unit's seconds; the unit is seconds if there is none.
std::pair<std::string, double> device_of(const std::string& cell, const std::string& place) {
  std::string name = cell;
  double scale = 1;
  if (const std::size_t open = cell.rfind('('); open != std::string::npos && cell.ends_with(')')) {
    const std::string_view unit = std::string_view(cell).substr(open + 1, cell.size() - open - 2);
    const auto* known = std::find_if(std::begin(units), std::end(units), [&](const Unit& u) { return u.name == unit; });
    if (known == std::end(units))
      throw InputError(place, "the unit of column {} must be s, ms, us or ns, got {}", quote(cell), quote(unit));
    scale = known->seconds;
    name = cell.substr(0, open);
    while (name.ends_with(' ')) name.pop_back();
  }
  if (name.empty()) throw InputError(place, "a column of the header names no device");
  return {name, scale};
}

double seconds_of(const std::string& cell, double scale, const std::string& column, const std::string& place) {
  double value = 0;
  if (!parse_number(cell, value) || !(value >= 0) || !(value * scale <= longest_op_s))
    throw InputError(place, "column {} must hold a time from 0 to {:g} s or nothing, got {}", quote(column),
                     longest_op_s, quote(cell));
  return value * scale;
}

}  // namespace

void parse_profile_table(std::string_view text, Profile& profile) {
  Table table(text, profile.file);
  const std::vector<std::string> header = table.cells();
  const auto position = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  const bool by_kernel = position("node") == 0 && position("min_us") < header.size();
  const std::size_t type = by_kernel ? position("op") : header.size();
  std::vector<Column> columns;
  if (by_kernel) {
    profile.devices = {""};
    columns.push_back({position("min_us"), 1e-6});
  } else {
    if (header.size() < 2)
      throw InputError(table.place(),
                       "a profile needs a header with the op's name and one column for each device, found {}",
                       quote(header[0]));
    if (header.size() - 1 > max_devices)
      throw InputError(table.place(), "more than {} devices in the header", max_devices);
    for (std::size_t i = 1; i < header.size(); ++i) {
      auto [name, scale] = device_of(header[i], table.place());
      if (std::find(profile.devices.begin(), profile.devices.end(), name) != profile.devices.end())
        throw InputError(table.place(), "the device {} has two columns", quote(name));
      profile.devices.push_back(std::move(name));
      columns.push_back({i, scale});
    }
  }

  std::unordered_map<std::string, std::uint32_t> seen;  // op -> line
  while (table.next_row()) {
    const auto& cells = table.cells();
    if (cells.size() != header.size())
      throw InputError(table.place(), "{} cells where the header has {}", cells.size(), header.size());
    if (cells[0].empty()) throw InputError(table.place(), "the op's name is empty");
    const auto [at, fresh] = seen.emplace(cells[0], table.number());
    if (!fresh) throw InputError(table.place(), "op {} is listed here and on line {}", quote(cells[0]), at->second);
    if (seen.size() > most_rows) throw InputError(table.place(), "more than {} ops", most_rows);
    ProfileRow row;
    row.op = cells[0];
    if (type < cells.size()) row.type = cells[type];
    row.line = table.number();
    row.seconds.resize(columns.size(), std::numeric_limits<double>::quiet_NaN());
    bool measured = false;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string& cell = cells[columns[c].position];
      if (cell.empty()) continue;
      measured = true;
      row.seconds[c] = seconds_of(cell, columns[c].seconds_per_unit, header[columns[c].position], table.place());
    }
    if (measured) profile.rows.push_back(std::move(row));
  }
}

}  // namespace emplace::cost
