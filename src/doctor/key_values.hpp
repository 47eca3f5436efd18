// Which keys of a recipe to change, and to which values.
#pragma once

#include <string>
#include <vector>

#include "emplace/base/options.hpp"
#include "experiment/recipe/recipe.hpp"

namespace emplace::doctor {

// Why a key of the recipe is not changed; "" if it is.
std::string why_not_tried(const std::string& key, const experiment::Recipe& recipe);

// The key's value in a resolved recipe; null if it has none.
const ConfigValue* find_value(const ConfigTable& resolved, const std::string& key);
std::string text_of(const ConfigValue* value);

// Other values to try in this order: first those that are most likely to be allowed and to have an effect.
std::vector<ConfigValue> other_values(const OptionInfo& option, const ConfigValue* now);

}  // namespace emplace::doctor
