#include "experiment/recipe/shipped_recipes.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::experiment {

namespace {

ConfigTable parse(const RecipeText& text) {
  return ConfigTable::parse_toml(text.toml, fmt::format("recipe {}", text.name));
}

}  // namespace

void describe(RecipeAbout& about, OptionVisitor& visit) {
  visit("purpose", about.purpose, {.help = "What the recipe is for."});
  visit("takes", about.takes, {.help = "How long it runs."});
  visit("reaches", about.reaches, {.help = "How good its placements were, and on which problem."});
}

std::vector<ShippedRecipe> shipped_recipes() {
  std::vector<ShippedRecipe> list;
  for (const RecipeText& text : recipe_texts()) {
    ShippedRecipe& recipe = list.emplace_back();
    recipe.about = read_options<RecipeAbout>(parse(text).table("about"));
    recipe.name = text.name;
    recipe.summary = recipe.about.purpose;
  }
  return list;
}

bool is_shipped_recipe(const std::string& name) {
  return std::ranges::any_of(recipe_texts(), [&](const RecipeText& text) { return text.name == name; });
}

ConfigTable read_recipe(const std::string& name_or_file, const std::string& place) {
  std::vector<std::string> names;
  for (const RecipeText& text : recipe_texts()) {
    if (text.name == name_or_file) return parse(text);
    names.emplace_back(text.name);
  }
  if (file_exists(name_or_file) || name_or_file.ends_with(".toml")) return ConfigTable::read_toml(name_or_file);
  const std::string near = did_you_mean(name_or_file, names);
  throw InputError(place, "unknown recipe {}: neither a name nor a TOML file{}", quote(name_or_file),
                   near.empty() ? "; `emplace list recipes` shows the names" : near);
}

}  // namespace emplace::experiment
