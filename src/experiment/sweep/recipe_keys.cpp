#include "experiment/sweep/recipe_keys.hpp"

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/policy/policy.hpp"
#include "experiment/recipe/recipe.hpp"
#include "learn/learner.hpp"

namespace emplace::experiment {

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

std::vector<std::string> policy_options(const std::string& method) { return options_of(policy::policies(), method); }
std::vector<std::string> learner_options(const std::string& method) { return options_of(learn::learners(), method); }

std::vector<std::string> recipe_tables() {
  std::vector<std::string> names = {"roofline", "polish"};
  for (const policy::PolicyEntry& entry : policy::policies()) names.push_back(entry.name);
  for (const learn::LearnerEntry& entry : learn::learners()) names.push_back(entry.name);
  for (const evaluate::EvaluatorEntry& entry : evaluate::evaluators()) names.push_back(entry.name);
  return names;
}

std::vector<std::string> recipe_keys() {
  std::vector<std::string> names;
  for (const OptionInfo& option : list_options<RecipeOptions>()) names.push_back(option.name);
  return names;
}

}  // namespace emplace::experiment
