// Every key that a recipe may have, for who walks them: completion of command lines, the manual, `emplace doctor`.
#pragma once

#include <string>
#include <vector>

#include "emplace/base/options.hpp"

namespace emplace::experiment {

struct RecipeKey {
  std::string name;  // "seed", "post.beta"
  OptionInfo option;
};

// Of a recipe with these methods: its own keys, those of the methods' tables, and those of the cost model's. A method
// that there is none of has none.
std::vector<RecipeKey> recipe_keys(const std::string& policy, const std::string& learner, const std::string& evaluator);

// What a recipe's own key decides; methods' tables and unknown keys decide results, the cost model's the task.
Affects affects_of(const std::string& key);

// The recipe's own keys that decide this.
std::vector<std::string> keys_that_affect(Affects what);

}  // namespace emplace::experiment
