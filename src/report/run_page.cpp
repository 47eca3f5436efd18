#include "report/run_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/files.hpp"
#include "base/version.hpp"
#include "emplace/base/error.hpp"
#include "experiment/run/metrics.hpp"
#include "experiment/run/run_folder.hpp"
#include "report/found_placement.hpp"
#include "report/page.hpp"
#include "report/page_json.hpp"
#include "report/placement_json.hpp"

namespace emplace::report {

namespace {

constexpr std::array<std::string_view, 12> scripts = {"head.js",     "curves.js",    "time_window.js", "limits.js",
                                                      "timeline.js", "memory.js",    "layers.js",      "lanes.js",
                                                      "groups.js",   "baselines.js", "placement.js",   "run.js"};

constexpr std::size_t most_placements = 24;
constexpr std::size_t most_ops = 200'000;  // of all placements together; each op takes some 100 bytes of the page

std::string measure_of(const ConfigTable& config) {
  return config.text("objective", "step") == "pipeline" ? "load" : "step time";
}

// The last finite value of the column; NaN if there is none.
double last_of(const experiment::Metrics& metrics, std::string_view name) {
  if (const std::vector<double>* column = metrics.find(name))
    for (std::size_t i = column->size(); i-- > 0;)
      if (std::isfinite((*column)[i])) return (*column)[i];
  return std::nan("");
}

Json commands(const std::string& path, const std::string& status, bool live) {
  Json list = Json::array();
  if (status != "finished")
    list.push_back(command(live ? "Continue it if it is stopped" : "Continue where it stopped",
                           {"emplace", "train", "--resume", path}));
  list.push_back(command("Train the same again, into another folder",
                         {"emplace", "train", path + "/config.toml", "run=" + path + "-again"}));
  return list;
}

// The keys that define what a run places, as TOML: runs with equal text place the same problem.
std::string placed_by(const ConfigTable& config) {
  constexpr std::array<std::string_view, 11> about = {"graph", "machine",  "problem", "problems", "batch",   "shape",
                                                      "pin",   "together", "forbid",  "max_cuts", "roofline"};
  ConfigTable table = config;
  for (const std::string& key : table.keys())
    if (std::ranges::find(about, key) == about.end()) table.erase(key);
  return table.to_toml();
}

// A sentence: why a run has no learning curves.
std::string nothing_to_draw(const std::string& path, std::size_t problems) {
  for (std::size_t problem = 0; problem < problems; ++problem)
    if (const std::string best = experiment::best_placement_file(problem, problems); file_exists(path + "/" + best))
      return "metrics.csv is missing or empty, though the run has written " + best +
             ": there are no learning curves to draw.";
  return "No update has been made yet: there is nothing to draw.";
}

Json run_json(const std::string& path, const experiment::Metrics& metrics) {
  const ConfigTable config = experiment::RunFolder::config_of(path);
  const bool live = experiment::RunFolder::in_use(path);
  const std::string status = experiment::RunFolder::status_now(path, live);
  const std::size_t problems = std::max<std::size_t>(1, config.texts("problems").size());
  Json columns = Json::object();
  for (const experiment::MetricsColumn& column : metrics.columns)
    columns[page_text(column.name, 100)] = page_numbers(column.values);
  return {{"name", page_text(name_of_folder(path), 200)},
          {"folder", page_text(path, 1000)},
          {"status", status},
          {"settings", settings(config, recipe_summary_keys())},
          {"measure", measure_of(config)},
          {"problems", problems},
          {"nothing_to_draw", metrics.points() == 0 ? Json(nothing_to_draw(path, problems)) : Json()},
          {"updates", metrics.updates},
          {"updates_per_point", metrics.updates_per_point},
          {"commands", commands(path, status, live)},
          {"columns", std::move(columns)}};
}

struct Run {
  std::string folder;
  experiment::Metrics metrics;
};

// What the metrics of all updates say about the end of the training.
std::optional<verdict::CurveFacts> facts_of(const Run& run) {
  constexpr std::size_t most_updates = 1'000'000;
  std::optional<experiment::Metrics> all;
  if (run.metrics.updates_per_point > 1) all = experiment::read_metrics(run.folder + "/metrics.csv", most_updates);
  const auto column = [&](std::string_view name) {
    const std::vector<double>* found = (all ? *all : run.metrics).find(name);
    return found == nullptr ? std::vector<double>() : *found;
  };
  return verdict::curve_facts({.best = column("best_step_time"),
                               .low = column("step_time_q10"),
                               .median = column("step_time_q50"),
                               .high = column("step_time_q90")});
}

LearnedCurve curve_of(const Run& run) {
  const experiment::Metrics& metrics = run.metrics;
  LearnedCurve curve;
  if (const double evaluations = last_of(metrics, "evaluations"); std::isfinite(evaluations) && evaluations >= 1)
    curve.evaluations = static_cast<std::uint64_t>(evaluations);
  if (const double seconds = last_of(metrics, "wall_seconds"); std::isfinite(seconds)) curve.seconds = seconds;
  const std::vector<double>* best = metrics.find("best_step_time");
  const std::vector<double>* at = metrics.find("evaluations");
  const std::vector<double>* seconds = metrics.find("wall_seconds");
  if (best == nullptr || at == nullptr) return curve;
  curve.best = *best;
  curve.at_evaluations = *at;
  curve.facts = facts_of(run);
  if (seconds != nullptr) curve.at_seconds = *seconds;
  return curve;
}

// The placements that the runs found, those of the best run first.
Json placements_json(std::span<const Run> runs, const RunPageLimits& page_limits, RunPage& page) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t run) {
    const double best = last_of(runs[run].metrics, "best_step_time");
    return std::isnan(best) ? std::numeric_limits<double>::infinity() : best;
  });
  ProblemCache problems;
  Json list = Json::array();
  std::size_t ops = 0;
  for (const std::size_t run : order) {
    std::vector<FoundPlacement> all = found_placements(runs[run].folder, most_placements - list.size(), problems);
    LearnedCurve curve = curve_of(runs[run]);
    std::size_t problem = 0;
    for (FoundPlacement& found : all) {
      if (found.missing.empty() && ops > 0 && ops + found.problem().op_count() > most_ops)
        found.missing =
            fmt::format("Its {} ops do not fit on a page with the other placements; make a page of this run alone",
                        found.problem().op_count());
      if (found.missing.empty() && found.recipe.sources().size() > 1)
        curve = {.evaluations = curve.evaluations,
                 .seconds = curve.seconds};  // the metrics are those of all problems together
      if (found.missing.empty()) {
        ops += found.problem().op_count();
        ++page.placements;
      }
      PlacementLimits limits;
      limits.bound_seconds = std::min(page_limits.bound_seconds,
                                      std::max(1.0, page_limits.bound_seconds / static_cast<double>(list.size() + 1)));
      list.push_back(placement_json(found, curve, limits));
      list.back()["run"] = run;
      list.back()["number"] = problem++;
    }
  }
  return list;
}

}  // namespace

bool is_run_folder(const std::string& path) {
  if (!file_exists(path + "/config.toml")) return false;
  const ConfigTable config = experiment::RunFolder::config_of(path);
  return !config.contains("space") &&
         (config.contains("problem") || config.contains("graph") || config.contains("problems"));
}

RunPage run_page(std::span<const std::string> folders, const RunPageLimits& limits) {
  EMPLACE_CHECK(!folders.empty() && folders.size() <= most_runs_on_a_page);
  RunPage page;
  std::vector<Run> read;
  Json runs = Json::array();
  std::set<std::string> placed;
  for (const std::string& folder : folders) {
    placed.insert(placed_by(experiment::RunFolder::config_of(folder)));
    read.push_back({folder, experiment::read_metrics(folder + "/metrics.csv", limits.points)});
    page.points += read.back().metrics.points();
    runs.push_back(run_json(folder, read.back().metrics));
    if (const Json& first = runs.front()["measure"]; runs.back()["measure"] != first)
      throw InputError(folder, "its trainings are measured by {}, those of {} by {}: make a page for each",
                       runs.back()["measure"].get<std::string>(), folders.front(), first.get<std::string>());
  }
  const std::string name =
      folders.size() == 1 ? name_of_folder(folders.front()) : fmt::format("{} runs", folders.size());
  const Json data = {{"kind", "run"},
                     {"name", page_text(name, 200)},
                     {"program", "emplace " + version()},
                     {"one_problem", placed.size() == 1},
                     {"runs", std::move(runs)},
                     {"placements", placements_json(read, limits, page)}};
  page.html = to_html({.title = name + " · emplace run", .data = page_data(data), .scripts = scripts});
  return page;
}

}  // namespace emplace::report
