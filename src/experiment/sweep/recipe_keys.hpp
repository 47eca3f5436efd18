// Names of the keys and tables at the top level of a recipe.
#pragma once

#include <string>
#include <vector>

namespace emplace::experiment {

// Names of a recipe's tables: policies, learners and the cost model.
std::vector<std::string> recipe_tables();
// Keys of recipes that are not tables.
std::vector<std::string> recipe_keys();
// Names of the options of the policy (or the learner) `method`; empty if there is no such policy (or learner).
std::vector<std::string> policy_options(const std::string& method);
std::vector<std::string> learner_options(const std::string& method);

}  // namespace emplace::experiment
