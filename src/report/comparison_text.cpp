#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "base/text.hpp"
#include "report/comparison.hpp"
#include "report/names.hpp"

namespace emplace::report {

namespace {

constexpr std::size_t columns_a_block = 6;
constexpr std::size_t widest_heading = 30;

// The files' names, or the last two, three, ... parts of their paths if the names alone are not unique; a file that is
// given twice gets a number.
std::vector<std::string> headings(const std::vector<ComparedPlacement>& placements) {
  const auto last_parts = [](const std::string& name, std::size_t count) {
    const std::filesystem::path path(name);
    std::vector<std::string> parts;
    for (const auto& part : path) parts.push_back(part.string());
    const std::size_t from = parts.size() - std::min(parts.size(), count);
    return join(std::span(parts).subspan(from), "/");
  };
  std::size_t longest = 1;
  std::set<std::string> different;
  for (const ComparedPlacement& placement : placements) {
    const std::filesystem::path path(placement.name);
    longest = std::max(longest, static_cast<std::size_t>(std::distance(path.begin(), path.end())));
    different.insert(placement.name);
  }
  std::vector<std::string> names;
  for (std::size_t count = 1; count <= longest; ++count) {
    names.clear();
    for (const ComparedPlacement& placement : placements)
      names.push_back(cell_name(last_parts(placement.name, count), widest_heading));
    if (std::set(names.begin(), names.end()).size() == different.size()) break;
  }
  std::map<std::string, int> seen;
  for (std::string& name : names)
    if (const int times = ++seen[name]; times > 1) name += fmt::format(" ({})", times);
  return names;
}

std::string block(const Problem& problem, const Comparison& comparison, const std::vector<std::string>& names,
                  std::size_t first, std::size_t end) {
  std::vector<std::string> header{""};
  for (std::size_t i = first; i < end; ++i) header.push_back(names[i]);
  TextTable table(header);
  using Row = const ComparedPlacement&;
  const auto line = [&](const std::string& what, const std::function<std::string(std::size_t, Row)>& cell) {
    std::vector<std::string> row{what};
    for (std::size_t i = first; i < end; ++i) row.push_back(cell(i, comparison.placements[i]));
    table.add(std::move(row));
  };
  const auto timed = [&](const std::string& what, const std::function<std::string(Row)>& cell) {
    line(what, [&](std::size_t, Row row) { return row.outcome.timed() ? cell(row) : "-"; });
  };
  const bool pipeline = comparison.objective == Objective::pipeline;
  timed(pipeline ? "load of the busiest" : "step time",
        [](Row row) { return human_seconds(to_seconds(row.outcome.makespan)); });
  line("over the best", [&](std::size_t i, Row) {
    const double ratio = ratio_to_best(comparison, i);
    return ratio == 0 ? "-" : i == comparison.best ? "best" : fmt::format("{:.3f} x", ratio);
  });
  line("feasible", [](std::size_t, Row row) { return row.outcome.feasible() ? "yes" : "NO"; });
  if (!pipeline) {
    line("schedule", [](std::size_t, Row row) { return std::string(name_of(row.schedule)); });
    if (!problem.given_transfer_times)
      timed("moved between devices", [](Row row) { return human_bytes(row.moved_bytes); });
    timed("transfers", [](Row row) { return fmt::format("{}", row.transfers); });
  }
  line("ops placed differently",
       [](std::size_t i, Row row) { return i == 0 ? "-" : fmt::format("{}", row.different); });
  for (std::size_t d = 0; d < problem.device_count(); ++d) {
    const std::string name = cell_name(problem.devices[d].name, 24);
    line(name + ": ops", [&](std::size_t, Row row) { return fmt::format("{}", row.ops_on[d]); });
    if (pipeline)
      timed(name + ": load", [&](Row row) { return human_seconds(to_seconds(row.load[d])); });
    else
      timed(name + ": busy", [&](Row row) {
        return percent(static_cast<double>(row.usage.device_busy[d]) / static_cast<double>(row.outcome.makespan));
      });
    timed(name + ": peak memory", [&](Row row) { return human_bytes(row.usage.device_peak[d]); });
  }
  return table.str();
}

}  // namespace

std::string comparison_text(const Problem& problem, const Comparison& comparison) {
  const std::vector<std::string> names = headings(comparison.placements);
  std::string out = fmt::format("{}: {} placements; differences count from the first\n", cell_name(problem.name, 80),
                                comparison.placements.size());
  for (std::size_t first = 0; first < names.size(); first += columns_a_block)
    out += "\n" + block(problem, comparison, names, first, std::min(first + columns_a_block, names.size()));
  bool any = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (comparison.placements[i].reason.empty()) continue;
    out += fmt::format("{}{} is not feasible: {}\n", any ? "" : "\n", names[i], comparison.placements[i].reason);
    any = true;
  }
  return out;
}

}  // namespace emplace::report
