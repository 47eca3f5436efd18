// The names that stand at the top of a recipe.
#pragma once

#include <string>
#include <vector>

namespace emplace {

// Policies, learners and the cost model: what recipes have tables of.
std::vector<std::string> recipe_tables();
// Keys of recipes that are no tables.
std::vector<std::string> recipe_keys();

}  // namespace emplace
