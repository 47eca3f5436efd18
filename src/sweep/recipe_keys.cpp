#include "recipe_keys.hpp"

#include "emplace/learn/learner.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/run/recipe.hpp"

namespace emplace {

std::vector<std::string> recipe_tables() {
  std::vector<std::string> names = {"roofline"};
  for (const PolicyEntry& entry : policies()) names.push_back(entry.name);
  for (const LearnerEntry& entry : learners()) names.push_back(entry.name);
  return names;
}

std::vector<std::string> recipe_keys() {
  std::vector<std::string> names;
  for (const OptionInfo& option : list_options<RecipeOptions>()) names.push_back(option.name);
  return names;
}

}  // namespace emplace
