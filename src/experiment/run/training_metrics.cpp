// The columns of metrics.csv that a training fills, update by update.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "experiment/run/training.hpp"

namespace emplace::experiment {

namespace {

// The clock's columns in metrics.csv; the first has another name in a checkpoint's history.
constexpr const char *wall_seconds = "wall_seconds", *wall_polish = "wall_polish_seconds";

}  // namespace

std::vector<std::pair<std::string, double>> Training::record(const learn::UpdateReport& report,
                                                             const learn::Best& best) {
  const bool feasible = best.any && best.outcome.feasible();
  std::vector<std::pair<std::string, double>> row = {
      {"update", static_cast<double>(report.update)},
      {"evaluations", static_cast<double>(report.evaluations)},
      {"samples", static_cast<double>(report.samples)},
      {"mean_reward", -report.mean_seconds},
      {"best_reward", -report.best_seconds},
      {"best_step_time", feasible ? to_seconds(best.outcome.makespan) : std::nan("")},
      {"feasible_share", report.feasible_share},
  };
  for (std::size_t q = 0; q < learn::reported_quantiles.size(); ++q)
    row.emplace_back(fmt::format("step_time_q{}", learn::reported_quantiles[q]), report.quantile_seconds[q]);
  if (recipe_.options.greedy_every > 0) row.emplace_back("greedy_step_time", report.greedy_seconds);
  for (std::size_t p = 0; p < held_out_.size(); ++p)
    row.emplace_back(held_out_.size() == 1 ? "held_out_step_time" : fmt::format("held_out_step_time.{}", p),
                     report.held_out_seconds[p]);
  if (learner_->asynchronous() != nullptr) {
    row.emplace_back("controller", static_cast<double>(report.controller));
    row.emplace_back("staleness", static_cast<double>(report.staleness));
  }
  if (polishes()) {
    polish_seconds_ += report.polish.seconds;
    row.insert(row.end(), {{"polished", static_cast<double>(report.polish.samples)},
                           {"polish_evaluations", static_cast<double>(report.polish.evaluations)},
                           {"polish_gain", report.polish.samples > 0 ? report.polish.gain : std::nan("")},
                           {wall_polish, polish_seconds_}});
  }
  if (teaches()) row.emplace_back("taught", static_cast<double>(report.taught));
  for (const auto& [name, value] : report.learner) row.emplace_back(name, value);
  row.emplace_back(wall_seconds, seconds_);
  for (const auto& [name, value] : row) {
    std::vector<double>& column = history_[name == wall_seconds ? history_seconds : name];
    column.resize(report.update - 1, std::nan(""));  // for updates of an older version without this column
    column.push_back(value);
  }
  for (auto& [name, column] : history_) column.resize(report.update, std::nan(""));  // that only an older version had
  return row;
}

std::vector<std::string> Training::columns_of_trainer() const {
  std::vector<std::string> names = {"update",      "evaluations",    "samples",       "mean_reward",
                                    "best_reward", "best_step_time", "feasible_share"};
  for (const std::size_t q : learn::reported_quantiles) names.push_back(fmt::format("step_time_q{}", q));
  names.emplace_back("greedy_step_time");
  if (held_out_.size() == 1) names.emplace_back("held_out_step_time");
  for (std::size_t p = 0; p < held_out_.size(); ++p) names.push_back(fmt::format("held_out_step_time.{}", p));
  if (learner_->asynchronous() != nullptr) names.insert(names.end(), {"controller", "staleness"});
  if (polishes()) names.insert(names.end(), {"polished", "polish_evaluations", "polish_gain", wall_polish});
  if (teaches()) names.emplace_back("taught");
  return names;
}

MetricsHistory Training::metrics_history() const {
  std::vector<std::string> names = columns_of_trainer();  // those of the learner follow in the order of their names
  for (const auto& [name, values] : history_)
    if (name != history_seconds && std::ranges::find(names, name) == names.end()) names.push_back(name);
  MetricsHistory columns;
  for (const std::string& name : names)
    if (const auto found = history_.find(name); found != history_.end()) columns.emplace_back(name, found->second);
  if (const auto clock = history_.find(history_seconds); clock != history_.end())
    columns.emplace_back(wall_seconds, clock->second);
  return columns;
}

}  // namespace emplace::experiment
