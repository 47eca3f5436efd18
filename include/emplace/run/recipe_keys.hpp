// Every key that a recipe may have, for who walks them: completion of command lines, the manual, `emplace doctor`.
#pragma once

#include <string>
#include <vector>

#include "emplace/base/options.hpp"

namespace emplace {

struct RecipeKey {
  std::string name;  // "seed", "post.beta"
  OptionInfo option;
};

// Of a recipe with these methods: its own keys, those of the methods' tables, and those of the cost model's. A method
// that there is none of has none.
std::vector<RecipeKey> recipe_keys(const std::string& policy, const std::string& learner, const std::string& evaluator);

}  // namespace emplace
