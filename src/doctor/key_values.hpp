// The keys that a recipe has, and other values for them.
#pragma once

#include <string>
#include <vector>

#include "emplace/base/options.hpp"
#include "emplace/run/recipe.hpp"

namespace emplace {

struct RecipeKey {
  std::string name;  // "seed", "post.beta"
  OptionInfo option;
  std::string not_tried;  // why it makes no sense to change it; "" if it does
};

// Every key of the recipe and of the tables of its methods and cost model.
std::vector<RecipeKey> recipe_keys(const Recipe& recipe);

// Its value in a resolved recipe; null where it has none.
const ConfigValue* find_value(const ConfigTable& resolved, const std::string& key);
std::string text_of(const ConfigValue* value);

// Some to try in turn, those first that are most likely to be allowed and to matter.
std::vector<ConfigValue> other_values(const OptionInfo& option, const ConfigValue* now);

}  // namespace emplace
