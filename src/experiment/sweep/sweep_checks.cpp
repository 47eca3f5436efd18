#include "experiment/sweep/sweep_checks.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/recipe_keys.hpp"
#include "experiment/sweep/recipe_keys.hpp"

namespace emplace::experiment {

namespace {

// InputError for an option of a method that is active in a corner in which the method is not chosen. Options that no
// method has are refused by make_recipe.
void refuse_idle(const Sweep& sweep, const Assignment& corner, const ConfigTable& recipe) {
  const RecipeOptions defaults;
  const std::string policy = recipe.text("policy", defaults.policy);
  const std::string learner = recipe.text("learner", defaults.learner);
  for (std::size_t p = 0; p < sweep.space.size(); ++p) {
    const Parameter& parameter = sweep.space.parameters()[p];
    const std::size_t dot = parameter.key.find('.');
    if (!corner.values[p] || dot == std::string::npos) continue;
    const std::string method = parameter.key.substr(0, dot);
    const std::string option = parameter.key.substr(dot + 1);
    const bool of_policy = has_text(policy_options(method), option);
    const bool of_learner = has_text(learner_options(method), option);
    if ((of_policy && method == policy) || (of_learner && method == learner) || (!of_policy && !of_learner)) continue;
    const char* kind = of_learner ? "learner" : "policy";
    throw InputError(parameter.place, "'{}' has no meaning if {} is {}{}", parameter.key, kind,
                     quote(of_learner ? learner : policy),
                     sweep.space.find(kind) ? fmt::format(": give it when = {{ {} = \"{}\" }}", kind, method) : "");
  }
}

}  // namespace

void refuse_incomparable(const Space& space, const SweepStrategyEntry& strategy) {
  for (const Parameter& parameter : space.parameters()) {
    const std::string& key = parameter.key;
    if (key == "seed") throw InputError(parameter.place, "'seed' cannot vary: `seeds` gives every trial several");
    if (key == "run") throw InputError(parameter.place, "'run' cannot vary: every trial has a folder of its own");
    // `workers` is not a parameter, because ranks_per_trial defines the ranks of a trial.
    if (affects_of(key) == Affects::task || key == "workers")
      throw InputError(parameter.place,
                       "'{}' changes what is measured, so trials could not be compared; `problems` trains each trial "
                       "on several",
                       key);
    if (strategy.stops_early && std::ranges::find(budget_keys, key) != budget_keys.end())
      throw InputError(parameter.place, "'{}' cannot vary: strategy {} compares trials at equal shares of it", key,
                       quote(strategy.name));
  }
}

void check_corners(const Sweep& sweep) {
  for (const Assignment& corner : sweep.space.corners()) {
    const ConfigTable recipe = sweep.recipe(corner);
    refuse_idle(sweep, corner, recipe);
    (void)make_recipe(recipe);
  }
}

std::vector<IdleOption> idle_in_all_trials(const Sweep& sweep) {
  std::map<std::string, std::string> reasons;  // of the keys that are idle in some trial
  std::vector<ConfigTable> recipes;
  const std::vector<Assignment> corners = sweep.space.corners();
  for (const Assignment& corner : corners) {
    recipes.push_back(make_recipe(sweep.recipe(corner)).resolved());
    for (IdleOption& each : idle_options(recipes.back())) reasons.emplace(std::move(each.key), std::move(each.reason));
    for (std::size_t p = 0; p < sweep.space.size(); ++p)
      if (corner.values[p]) {
        const std::string& key = sweep.space.parameters()[p].key;
        if (std::string reason = why_idle(recipes.back(), key); !reason.empty()) reasons.emplace(key, reason);
      }
  }
  const auto has_effect = [&](const std::string& key) {
    const std::optional<std::size_t> parameter = sweep.space.find(key);
    for (std::size_t c = 0; c < corners.size(); ++c)
      if ((!parameter || corners[c].values[*parameter]) && has_key(recipes[c], key) &&
          why_idle(recipes[c], key).empty())
        return true;
    return false;
  };
  std::vector<IdleOption> list;
  for (const auto& [key, reason] : reasons)
    if (!has_effect(key)) list.push_back({key, reason});
  return list;
}

void check_shares(const Sweep& sweep, double first) {
  if (std::ranges::none_of(budget_keys, [&](const char* key) { return sweep.base.contains(key); }))
    throw InputError(sweep.place,
                     "strategy {} stops trials early: it needs a budget in updates, evaluations or seconds to take "
                     "shares of",
                     quote(sweep.options.strategy));
  for (const char* key : {"updates", "evaluations"})
    if (sweep.base.contains(key) && first * sweep.base.number(key) < 1)
      throw InputError(sweep.base.place_of(key),
                       "the first rung of strategy {} has {:.3g} of {} {}, which is less than one: give more of them, "
                       "or fewer rungs",
                       quote(sweep.options.strategy), first, sweep.base.number(key), key);
}

}  // namespace emplace::experiment
