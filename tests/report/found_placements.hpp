// Placements as a run's folder has them, and what a page says of them.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "report/placement_json.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::test {

// A placement that a run of this recipe (TOML lines) found.
inline report::FoundPlacement found(Problem problem, Placement placement, const std::string& recipe = "") {
  report::FoundPlacement all;
  all.loaded = std::make_shared<const source::LoadedProblem>(
      source::LoadedProblem{.problem = std::move(problem), .warnings = {}});
  all.placement = std::move(placement);
  all.recipe = experiment::make_recipe(ConfigTable::parse_toml("problem = \"p.json\"\n" + recipe, "r.toml"));
  all.scoring = {schedule_of(all.recipe.options.schedule, ""), objective_of(all.recipe.options.objective, "")};
  all.units = make_grouping(all.problem(), GroupingKind::colocation);
  return all;
}

// The placement's part of a page.
inline nlohmann::json page_of(const report::FoundPlacement& placement, const report::PlacementLimits& limits = {},
                              const report::LearnedCurve& curve = {.evaluations = 100}) {
  return nlohmann::json::parse(report::placement_json(placement, curve, limits).dump());
}

// Limits for pages of which a test makes hundreds.
inline report::PlacementLimits quick_limits() {
  report::PlacementLimits limits;
  limits.bound_seconds = 1e-3;
  limits.moves = {.wanted = 0, .simulations = 0, .work = 0, .guesses = 0, .guessed_ops = 0};
  limits.placed = 0;  // no other placers
  return limits;
}

// a (10 ms) and b (20 ms) on gpu:0, c (10 ms) on gpu:1 after a and b, whose tensors take 10 ms each: a 0-10, b 10-30,
// the tensor of a 10-20 and that of b 30-40, c 40-50. All but the tensor of a is critical.
inline report::FoundPlacement three_ops(const std::string& recipe = "") {
  std::vector<Device> devices = plain_devices(2);
  devices[0].memory = 5000;
  return found(tiny(devices, {{"m/a", {10, 10}, "", 1000, 500}, {"m/b", {20, 20}, "", 0, 100}, {"c", {10, 10}}},
                    {{0, 2}, {1, 2}}, 10),
               {{0, 0, 1}, {}}, recipe);
}

}  // namespace emplace::test
