// The list of all keys that a recipe may have; for the completion of command lines, the manual and `emplace doctor`.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "emplace/base/options.hpp"

namespace emplace::experiment {

struct RecipeKey {
  std::string name;  // "seed", "post.beta"
  OptionInfo option;
};

// The keys of a recipe with these methods: its own, those of the methods' tables, and those of the cost model's table.
// Unknown methods have no keys.
std::vector<RecipeKey> recipe_keys(const std::string& policy, const std::string& learner, const std::string& evaluator);

// What a key affects: a recipe's own key as it is described; the tables of methods and unknown keys affect results, the
// cost model's table the task.
Affects affects_of(const std::string& key);

// The budgets that a share can be taken of; patience and the bound also end a training, but are none.
inline constexpr std::array<const char*, 3> budget_keys = {"updates", "evaluations", "seconds"};

}  // namespace emplace::experiment
