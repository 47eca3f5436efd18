#include "report/sweep_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.hpp"
#include "base/version.hpp"
#include "experiment/sweep/coordinator.hpp"
#include "experiment/sweep/importance.hpp"
#include "experiment/sweep/sweep_table.hpp"
#include "experiment/sweep/trial.hpp"
#include "report/page.hpp"
#include "report/page_json.hpp"
#include "report/sweep_curves.hpp"

namespace emplace::report {

namespace {

constexpr std::array<std::string_view, 7> sweep_scripts = {"head.js",   "parallel.js", "importance.js", "history.js",
                                                           "curves.js", "table.js",    "sweep.js"};

bool is_log(experiment::Parameter::Kind kind) {
  return kind == experiment::Parameter::Kind::log_uniform || kind == experiment::Parameter::Kind::log_integers;
}

std::string condition_text(const experiment::Space& space, const experiment::Parameter& parameter) {
  std::vector<std::string> all;
  for (const experiment::Parameter::Condition& condition : parameter.when) {
    const experiment::Parameter& other = space.parameters()[condition.parameter];
    std::vector<std::string> values;
    for (const double value : condition.values) values.push_back(other.text(value));
    all.push_back(fmt::format("{} = {}", other.key, join(values, " or ")));
  }
  return join(all, ", ");
}

Json parameters(const experiment::Space& space) {
  Json list = Json::array();
  for (const experiment::Parameter& parameter : space.parameters()) {
    Json each = {{"key", page_text(parameter.key, 200)},
                 {"scale", parameter.kind == experiment::Parameter::Kind::choices ? "choices"
                           : is_log(parameter.kind)                               ? "log"
                                                                                  : "linear"},
                 {"whole", !parameter.continuous()},
                 {"low", parameter.low},
                 {"high", parameter.high}};
    if (parameter.kind == experiment::Parameter::Kind::choices) {
      each["choices"] = Json::array();
      for (std::size_t i = 0; i < parameter.choices.size(); ++i)
        each["choices"].push_back(page_text(parameter.text(static_cast<double>(i)), 300));
    }
    each["when"] = page_text(condition_text(space, parameter), 300);
    list.push_back(std::move(each));
  }
  return list;
}

Json trial(const experiment::TrialRow& row, std::optional<std::size_t> ended) {
  Json values = Json::array();
  if (row.assignment)
    for (const std::optional<double>& value : row.assignment->values) values.push_back(value ? Json(*value) : Json());
  const bool has_ended = row.share > 0;
  return {{"trial", row.trial},
          {"status", experiment::name_of(row.status)},
          {"objective", row.objective ? Json(*row.objective) : Json()},
          {"values", std::move(values)},
          {"share", page_number(row.share)},
          {"updates", has_ended ? Json(row.updates) : Json()},
          {"evaluations", has_ended ? Json(row.evaluations) : Json()},
          {"seconds", has_ended ? page_number(row.seconds) : Json()},
          {"error", page_text(row.error)},
          {"ended", ended ? Json(*ended + 1) : Json()}};
}

// At most `most` trials: those with the best objectives, then the first of the others.
std::vector<const experiment::TrialRow*> shown(const std::vector<experiment::TrialRow>& rows, std::size_t most) {
  std::vector<const experiment::TrialRow*> list;
  for (const experiment::TrialRow& row : rows) list.push_back(&row);
  if (list.size() <= most) return list;
  std::ranges::stable_sort(list, {}, [](const experiment::TrialRow* row) {
    return row->objective.value_or(std::numeric_limits<double>::infinity());
  });
  list.resize(most);
  std::ranges::sort(list, {}, &experiment::TrialRow::trial);
  return list;
}

Json importance_list(const experiment::SweepFolder& folder) {
  Json list = Json::array();
  for (const experiment::Importance& each : experiment::importances(folder.sweep.space, folder.rows))
    list.push_back({{"key", page_text(each.key, 200)},
                    {"trials", each.trials},
                    {"groups", each.groups},
                    {"share", page_number(each.share)},
                    {"by_chance", page_number(each.by_chance)},
                    {"noise", page_number(each.noise)}});
  return list;
}

Json commands(const experiment::SweepFolder& folder, const experiment::TrialRow* best) {
  Json list = Json::array();
  const auto waits = std::ranges::find(folder.rows, experiment::TrialStatus::waiting, &experiment::TrialRow::status);
  const std::string config = folder.path + "/config.toml";
  if (folder.status == "finished")
    list.push_back(command("Run the same sweep again, in another folder",
                           {"emplace", "sweep", config, "run=" + folder.path + "-again"}));
  else if (!folder.array)
    list.push_back(command(folder.live ? "Continue it if it is stopped" : "Continue where it stopped",
                           {"emplace", "sweep", "--resume", folder.path}));
  else if (waits != folder.rows.end())
    list.push_back(command("Train the first trial that waits",
                           {"emplace", "sweep", config, "--trial", fmt::format("{}", waits->trial)}));
  if (best != nullptr) {
    const std::string run = experiment::run_of_seed(folder.sweep, experiment::trial_folder(folder.path, best->trial),
                                                    folder.sweep.seeds.front());
    list.push_back(command("Train the best trial again, in another folder",
                           {"emplace", "train", run + "/config.toml", "run=" + folder.path + "-best"}));
  }
  return list;
}

Json counts(const std::vector<experiment::TrialRow>& rows) {
  Json object = Json::object();
  for (const experiment::TrialStatus status :
       {experiment::TrialStatus::finished, experiment::TrialStatus::stopped, experiment::TrialStatus::failed,
        experiment::TrialStatus::running, experiment::TrialStatus::waiting})
    object[experiment::name_of(status)] = std::ranges::count(rows, status, &experiment::TrialRow::status);
  return object;
}

}  // namespace

SweepPage sweep_page(const experiment::SweepFolder& folder, const SweepPageLimits& limits,
                     const verdict::Verdict& head) {
  const experiment::Sweep& sweep = folder.sweep;
  const experiment::TrialRow* best = experiment::best_row(folder.rows);
  SweepCurves curves = sweep_curves(folder, limits);
  std::vector<std::optional<std::size_t>> ended(folder.rows.size());
  for (std::size_t i = 0; i < folder.ended.size(); ++i) ended[folder.ended[i]] = i;
  Json trials = Json::array();
  for (const experiment::TrialRow* row : shown(folder.rows, limits.trials))
    trials.push_back(trial(*row, ended[row->trial]));

  const std::string name = name_of_folder(folder.path);
  SweepPage page{.html = {},
                 .trials = trials.size(),
                 .trials_total = folder.rows.size(),
                 .curves = curves.drawn,
                 .curves_total = curves.total};
  const Json seeds = sweep.seeds;
  const bool pipeline = sweep.base.text("objective", "step") == "pipeline";
  const Json data = {{"kind", "sweep"},
                     {"name", page_text(name, 200)},
                     {"folder", page_text(folder.path, 1000)},
                     {"program", "emplace " + version()},
                     {"status", folder.status},
                     {"array", folder.array},
                     {"strategy", {{"name", sweep.options.strategy}, {"summary", sweep.strategy_entry().summary}}},
                     {"measure", pipeline ? "load" : "step time"},
                     {"settings", settings(sweep.base, recipe_summary_keys())},
                     {"seeds", seeds},
                     {"problems", std::max<std::size_t>(1, sweep.base.texts("problems").size())},
                     {"counts", counts(folder.rows)},
                     {"best", best != nullptr ? Json(best->trial) : Json()},
                     {"head", head_json(head)},
                     {"commands", commands(folder, best)},
                     {"parameters", parameters(sweep.space)},
                     {"trials", std::move(trials)},
                     {"trials_total", page.trials_total},
                     {"importances", importance_list(folder)},
                     {"curves", std::move(curves.lines)},
                     {"curves_total", page.curves_total},
                     {"curves_sampled", curves.sampled}};
  page.html = to_html({.title = name + " · emplace sweep", .data = page_data(data), .scripts = sweep_scripts});
  return page;
}

}  // namespace emplace::report
