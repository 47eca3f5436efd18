#include "experiment/recipe/recipe_keys.hpp"

#include <algorithm>

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/policy/policy.hpp"
#include "experiment/recipe/recipe.hpp"
#include "learn/learner.hpp"

namespace emplace::experiment {

std::vector<RecipeKey> recipe_keys(const std::string& policy, const std::string& learner,
                                   const std::string& evaluator) {
  std::vector<RecipeKey> keys;
  for (OptionInfo& option : list_options<RecipeOptions>()) {
    std::string name = option.name;
    keys.push_back({std::move(name), std::move(option)});
  }
  const auto add = [&](const std::string& table, const std::vector<OptionInfo>& options) {
    for (const OptionInfo& option : options) {
      const std::string name = table + "." + option.name;
      // A policy and a learner with the same name share a table.
      if (std::ranges::none_of(keys, [&](const RecipeKey& key) { return key.name == name; }))
        keys.push_back({name, option});
    }
  };
  const auto add_method = [&](const std::string& name, const auto& entries) {
    for (const auto& entry : entries)
      if (entry.name == name) add(name, entry.options());
  };
  add_method(policy, policy::policies());
  add_method(learner, learn::learners());
  add_method(evaluator, evaluate::evaluators());
  add("polish", list_options<learn::PolishOptions>());
  add("roofline", list_options<cost::RooflineOptions>());
  return keys;
}

Affects affects_of(const std::string& key) {
  if (key == "roofline" || key.starts_with("roofline.")) return Affects::task;
  static const std::vector<OptionInfo> options = list_options<RecipeOptions>();
  const auto found = std::ranges::find(options, key, &OptionInfo::name);
  return found == options.end() ? Affects::results : found->affects;
}

}  // namespace emplace::experiment
