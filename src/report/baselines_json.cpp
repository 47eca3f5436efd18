#include <algorithm>
#include <stdexcept>

#include "emplace/base/error.hpp"
#include "emplace/report/page.hpp"
#include "emplace/run/placing_team.hpp"
#include "emplace/search/placer.hpp"
#include "emplace/simulate/pipeline.hpp"
#include "placement_json.hpp"

namespace emplace {

namespace {

std::string reason_of(const FoundPlacement& found, const PlacerResult& result) {
  const auto say = found.scoring.objective == Objective::pipeline ? pipeline_reason_text : reason_text;
  return result.outcome.feasible() ? "" : say(found.problem(), result.outcome, result.placement.device, {});
}

Json row(const std::string& method, const Outcome& outcome, const std::string& reason, std::uint64_t evaluations) {
  return {{"method", page_text(method, 100)}, {"time", outcome.timed() ? Json(outcome.makespan) : Json()},
          {"feasible", outcome.feasible()},   {"reason", page_text(reason, 300)},
          {"evaluations", evaluations},       {"learned", false}};
}

// Those that the recipe names for comparison, then the other quick ones, which take seconds on large problems.
std::vector<std::string> methods_for(const FoundPlacement& found, const PlacerRequest& request,
                                     const PlacementLimits& limits) {
  std::vector<std::string> methods = found.recipe.options.compare;
  if (has_few_baselines(found, limits)) return methods;
  for (const PlacerEntry& entry : placers())
    if (entry.role == PlacerRole::quick && entry.only_for.value_or(request.objective) == request.objective &&
        (!entry.unfit || entry.unfit(request).empty()) && std::ranges::find(methods, entry.name) == methods.end())
      methods.push_back(entry.name);
  return methods;
}

}  // namespace

bool has_few_baselines(const FoundPlacement& found, const PlacementLimits& limits) {
  return found.problem().op_count() * found.problem().device_count() > limits.placed;
}

Json baselines_json(const FoundPlacement& found, const Outcome& learned, const std::string& reason,
                    std::uint64_t evaluations, const PlacementLimits& limits) {
  const Problem& problem = found.problem();
  const PlacingTeam team = make_placing_team(nullptr, problem, found.scoring);
  PlacerRequest request = request_for(*found.loaded, found.scoring, team);
  request.seed = static_cast<std::uint64_t>(found.recipe.options.seed);
  // `random` as often as the run, partitioners for each of their imbalances; fewer on large problems.
  const std::uint64_t size = problem.op_count() + problem.edge_count();
  request.evaluations = std::clamp<std::uint64_t>(evaluations, 1, std::max<std::uint64_t>(8, limits.work / size));

  Json rows = Json::array();
  rows.push_back(row(found.recipe.options.policy, learned, reason, evaluations));
  rows.back()["learned"] = true;
  for (const std::string& method : methods_for(found, request, limits)) {
    try {
      const PlacerResult result = place_with(method, request, ConfigTable("compare"));
      rows.push_back(row(method, result.outcome, reason_of(found, result), result.evaluations));
    } catch (const std::runtime_error& error) {  // it has no answer to this problem, or its library fails
      rows.push_back(row(method, {}, error.what(), 0));
      rows.back()["feasible"] = false;
    }
  }
  return rows;
}

}  // namespace emplace
