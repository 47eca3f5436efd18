#include "emplace/run/recipe_keys.hpp"

#include <algorithm>

#include "emplace/learn/learner.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/run/recipe.hpp"
#include "emplace/simulate/evaluators.hpp"

namespace emplace {

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
      // A policy and a learner of one name share a table.
      if (std::ranges::none_of(keys, [&](const RecipeKey& key) { return key.name == name; }))
        keys.push_back({name, option});
    }
  };
  const auto add_method = [&](const std::string& name, const auto& entries) {
    for (const auto& entry : entries)
      if (entry.name == name) add(name, entry.options());
  };
  add_method(policy, policies());
  add_method(learner, learners());
  add_method(evaluator, evaluators());
  add("roofline", list_options<RooflineOptions>());
  return keys;
}

}  // namespace emplace
