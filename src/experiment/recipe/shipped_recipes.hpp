// The recipes of configs/recipes, which are part of the program.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emplace/base/config.hpp"
#include "emplace/base/registry.hpp"

namespace emplace::experiment {

struct RecipeText {
  const char* name;  // of the file, without extension
  const char* toml;
};
std::span<const RecipeText> recipe_texts();

// The table [about] of a recipe, which no training reads.
struct RecipeAbout {
  std::string purpose;  // what the recipe is for
  std::string takes;    // how long it runs
  std::string reaches;  // how good its placements were, and on which problem
};
void describe(RecipeAbout& about, OptionVisitor& visit);

// A recipe as `emplace list recipes` shows it: name, summary (its purpose).
struct ShippedRecipe : EntryInfo {
  RecipeAbout about;
};
std::vector<ShippedRecipe> shipped_recipes();

// Whether a built-in recipe has this name.
bool is_shipped_recipe(const std::string& name);

// The recipe for a problem for which none is named: the one that learned best on the problems of docs/results.md.
inline constexpr const char* recommended_recipe = "gdp";

// A built-in recipe ("hierarchical"), or a TOML file. InputError, which begins with `place`, if there is neither.
ConfigTable read_recipe(const std::string& name_or_file, const std::string& place);

}  // namespace emplace::experiment
