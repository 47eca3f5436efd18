#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "emplace/base/error.hpp"
#include "emplace/search/placer.hpp"
#include "experiment/run/placing_backend.hpp"
#include "report/page.hpp"
#include "report/placement_json.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::report {

namespace {

Json row(const std::string& method, const Outcome& outcome, const std::string& reason, std::uint64_t evaluations) {
  return {{"method", page_text(method, 100)},
          {"time", outcome.timed() ? Json(outcome.makespan) : Json()},
          {"feasible", outcome.feasible()},
          {"reason", page_text(reason, 300)},
          {"evaluations", evaluations},
          {"learned", false},
          {"seconds", Json()},
          {"part", false},
          {"learned_at_evaluations", Json()},
          {"learned_at_seconds", Json()}};
}

Json ticks_or_null(std::optional<Ticks> ticks) { return ticks ? Json(*ticks) : Json(); }

// The value of `best` at the last point that is not beyond `end`; points are in ascending order.
std::optional<Ticks> best_until(const std::vector<double>& points, const std::vector<double>& best, double end) {
  const auto after = static_cast<std::size_t>(std::ranges::upper_bound(points, end) - points.begin());
  if (after == 0 || after > best.size() || !std::isfinite(best[after - 1])) return std::nullopt;
  return ticks_of_seconds(best[after - 1]);
}

struct Baseline {
  std::string method;
  ConfigTable options{"compare"};
};

// The placer and its options on a page; none for placers that are left out. Only placers that end after a number of
// evaluations and run for seconds are used. Integer programs end after a time, so the page would differ each time it is
// made; for pipelines `best` calls them, so it is left out there.
std::optional<Baseline> baseline_of(const search::PlacerEntry& entry, const search::PlacerRequest& request) {
  if (entry.only_for.value_or(request.objective) != request.objective) return {};
  if (entry.unfit && !entry.unfit(request).empty()) return {};
  Baseline baseline{entry.name};
  const auto set = [&](const char* key, std::int64_t value) { baseline.options.set(key, {value, "compare"}); };
  if (entry.role == search::PlacerRole::quick || entry.role == search::PlacerRole::search) return baseline;
  if (entry.name == "best" && request.objective == Objective::step) return baseline;
  if (entry.name == "dp") {  // not a quick placer itself; only its heuristic dpl is
    set("ideals", 2000);
    return baseline;
  }
  constexpr std::int64_t most_ops = 300, most_nodes = 100'000;
  if (entry.name != "branch-and-bound" || request.problem->op_count() > most_ops) return {};
  set("ops", most_ops);
  set("nodes", most_nodes);
  set("memory", 64);
  return baseline;
}

// The placers that the recipe names for comparison, then all others that take only seconds on large problems.
std::vector<Baseline> baselines_for(const FoundPlacement& found, const search::PlacerRequest& request,
                                    const PlacementLimits& limits) {
  std::vector<Baseline> baselines;
  for (const std::string& method : found.recipe.options.compare) baselines.push_back({method});
  if (has_few_baselines(found, limits)) return baselines;
  for (const search::PlacerEntry& entry : search::placers())
    if (std::ranges::find(found.recipe.options.compare, entry.name) == found.recipe.options.compare.end())
      if (std::optional<Baseline> baseline = baseline_of(entry, request)) baselines.push_back(std::move(*baseline));
  return baselines;
}

}  // namespace

bool has_few_baselines(const FoundPlacement& found, const PlacementLimits& limits) {
  return found.problem().op_count() * found.problem().device_count() > limits.placed;
}

std::optional<Ticks> learned_after_evaluations(const LearnedCurve& curve, std::uint64_t evaluations) {
  return best_until(curve.at_evaluations, curve.best, static_cast<double>(evaluations));
}

std::optional<Ticks> learned_after_seconds(const LearnedCurve& curve, double seconds) {
  return best_until(curve.at_seconds, curve.best, seconds);
}

Json baselines_json(const FoundPlacement& found, const Outcome& learned, const std::string& reason,
                    const LearnedCurve& curve, const PlacementLimits& limits) {
  const Problem& problem = found.problem();
  const experiment::PlacingBackend backend = experiment::make_placing_backend(nullptr, problem, found.scoring);
  search::PlacerRequest request = experiment::request_for(*found.loaded, found.scoring, backend);
  request.seed = static_cast<std::uint64_t>(found.recipe.options.seed);
  // Searches get as many evaluations as the run, partitioners one for each of their imbalances; on large problems
  // fewer.
  const std::uint64_t size = problem.op_count() + problem.edge_count();
  request.evaluations = std::clamp<std::uint64_t>(curve.evaluations, 1, std::max<std::uint64_t>(8, limits.work / size));

  Json rows = Json::array();
  rows.push_back(row(found.recipe.options.policy, learned, reason, curve.evaluations));
  rows.back()["learned"] = true;
  if (!curve.at_seconds.empty()) rows.back()["seconds"] = page_number(curve.at_seconds.back());
  for (const auto& [method, options] : baselines_for(found, request, limits)) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      const search::PlacerResult result = search::place_with(method, request, options);
      rows.push_back(row(method, result.outcome,
                         simulate::reason_of(request.objective, problem, result.outcome, result.placement.device, {}),
                         result.evaluations));
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      rows.back()["seconds"] = page_number(seconds);
      rows.back()["learned_at_evaluations"] = ticks_or_null(learned_after_evaluations(curve, result.evaluations));
      rows.back()["learned_at_seconds"] = ticks_or_null(learned_after_seconds(curve, seconds));
    } catch (const std::runtime_error& error) {  // the placer cannot place this problem, or its library fails
      rows.push_back(row(method, {}, error.what(), 0));
      rows.back()["feasible"] = false;
    }
  }
  if (*request.evaluations < curve.evaluations) {
    const std::optional<Ticks> then = learned_after_evaluations(curve, *request.evaluations);
    Outcome outcome;
    outcome.makespan = then.value_or(Outcome::unknown);
    rows.push_back(row(found.recipe.options.policy, outcome,
                       then                 ? ""
                       : curve.best.empty() ? "what the training had by then is not known"
                                            : "nothing feasible yet",
                       *request.evaluations));
    rows.back()["feasible"] = then.has_value();
    rows.back()["learned"] = true;
    rows.back()["part"] = true;
  }
  return rows;
}

}  // namespace emplace::report
