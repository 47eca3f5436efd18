#include "recipe_keys.hpp"

#include "emplace/learn/learner.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/run/recipe.hpp"
#include "emplace/simulate/evaluators.hpp"

namespace emplace {

namespace {

template <class Entry>
std::vector<std::string> options_of(std::span<const Entry> entries, const std::string& method) {
  std::vector<std::string> names;
  for (const Entry& entry : entries)
    if (entry.name == method)
      for (const OptionInfo& option : entry.options()) names.push_back(option.name);
  return names;
}

}  // namespace

std::vector<std::string> policy_options(const std::string& method) { return options_of(policies(), method); }
std::vector<std::string> learner_options(const std::string& method) { return options_of(learners(), method); }

std::vector<std::string> recipe_tables() {
  std::vector<std::string> names = {"roofline"};
  for (const PolicyEntry& entry : policies()) names.push_back(entry.name);
  for (const LearnerEntry& entry : learners()) names.push_back(entry.name);
  for (const EvaluatorEntry& entry : evaluators()) names.push_back(entry.name);
  return names;
}

std::vector<std::string> recipe_keys() {
  std::vector<std::string> names;
  for (const OptionInfo& option : list_options<RecipeOptions>()) names.push_back(option.name);
  return names;
}

}  // namespace emplace
