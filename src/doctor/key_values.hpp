// Which keys of a recipe to change, and to what.
#pragma once

#include <string>
#include <vector>

#include "emplace/base/options.hpp"
#include "emplace/experiment/recipe.hpp"

namespace emplace::doctor {

// Why it makes no sense to change a key of the recipe; "" if it does.
std::string why_not_tried(const std::string& key, const experiment::Recipe& recipe);

// Its value in a resolved recipe; null where it has none.
const ConfigValue* find_value(const ConfigTable& resolved, const std::string& key);
std::string text_of(const ConfigValue* value);

// Some to try in turn, those first that are most likely to be allowed and to matter.
std::vector<ConfigValue> other_values(const OptionInfo& option, const ConfigValue* now);

}  // namespace emplace::doctor
