#include "experiment/sweep/sweep_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/csv.hpp"
#include "base/text.hpp"

namespace emplace::experiment {

namespace {

std::string number(double value) { return fmt::format("{}", value); }

}  // namespace

std::string sweep_csv(const Space& space, std::span<const TrialRow> rows) {
  std::vector<std::string> header = {"trial", "status", "objective"};
  for (const Parameter& parameter : space.parameters()) header.push_back(csv_cell(parameter.key));
  header.insert(header.end(), {"rung", "share", "updates", "evaluations", "wall_seconds", "error"});
  std::string text = join(header, ",") + "\n";
  for (const TrialRow& row : rows) {
    std::vector<std::string> cells = {fmt::format("{}", row.trial), name_of(row.status),
                                      row.objective ? number(*row.objective) : ""};
    for (std::size_t p = 0; p < space.size(); ++p) {
      const bool given = row.assignment && row.assignment->values[p];
      cells.push_back(given ? csv_cell(space.parameters()[p].text(*row.assignment->values[p])) : "");
    }
    const bool ended = row.share > 0;
    cells.push_back(row.rung ? fmt::format("{}", *row.rung) : "");
    cells.push_back(ended ? number(row.share) : "");
    cells.push_back(ended ? fmt::format("{}", row.updates) : "");
    cells.push_back(ended ? fmt::format("{}", row.evaluations) : "");
    cells.push_back(ended ? number(row.seconds) : "");
    cells.push_back(csv_cell(row.error));
    text += join(cells, ",") + "\n";
  }
  return text;
}

const TrialRow* best_row(std::span<const TrialRow> rows) {
  const TrialRow* best = nullptr;
  for (const TrialRow& row : rows)
    if (row.objective && (best == nullptr || *row.objective < *best->objective)) best = &row;
  return best;
}

std::string describe_values(const Space& space, const TrialRow& row) {
  std::vector<std::string> values;
  for (std::size_t p = 0; p < space.size(); ++p)
    if (row.assignment && row.assignment->values[p])
      values.push_back(
          fmt::format("{} = {}", space.parameters()[p].key, space.parameters()[p].text(*row.assignment->values[p])));
  return join(values, ", ");
}

std::string sweep_progress(const Space& space, std::span<const TrialRow> rows, const SweepClock& clock) {
  std::string text = "best      none yet\n";
  if (const TrialRow* best = best_row(rows)) {
    text = fmt::format("best      {}, trial {}: {}\n", human_seconds(*best->objective), best->trial,
                       describe_values(space, *best));
  }
  std::array<std::size_t, 5> count{};
  double spent = 0, seconds = 0;
  bool ended = true;
  for (const TrialRow& row : rows) {
    ++count[static_cast<std::size_t>(row.status)];
    spent += row.share;
    seconds += row.seconds;
    ended = ended && row.status != TrialStatus::waiting && row.status != TrialStatus::running;
  }
  const auto of = [&](TrialStatus status) { return count[static_cast<std::size_t>(status)]; };
  text += fmt::format("trials    {} finished, {} stopped early, {} failed, {} running, {} remaining\n",
                      of(TrialStatus::finished), of(TrialStatus::stopped), of(TrialStatus::failed),
                      of(TrialStatus::running), of(TrialStatus::waiting));
  text += fmt::format("time      {}", human_seconds(clock.elapsed_seconds));
  if (ended)
    text += ", done\n";
  else if (clock.planned_budgets == 0)
    text += "\n";
  else if (spent > 0)
    text += fmt::format(", expected end in {}\n",
                        human_seconds(std::max(0.0, clock.planned_budgets - spent) * seconds / spent /
                                      static_cast<double>(std::max<std::size_t>(1, clock.at_once))));
  else
    text += ", expected end not known yet\n";
  return text;
}

}  // namespace emplace::experiment
