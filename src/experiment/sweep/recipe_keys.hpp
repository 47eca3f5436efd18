// The names that stand at the top of a recipe.
#pragma once

#include <string>
#include <vector>

namespace emplace::experiment {

// Policies, learners and the cost model: what recipes have tables of.
std::vector<std::string> recipe_tables();
// Keys of recipes that are no tables.
std::vector<std::string> recipe_keys();
// Names of the options of the policy, or the learner, `method`; none if there is none.
std::vector<std::string> policy_options(const std::string& method);
std::vector<std::string> learner_options(const std::string& method);

}  // namespace emplace::experiment
