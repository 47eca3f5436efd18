#include "app/recipe_words.hpp"

#include <filesystem>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "emplace/source/load_problem.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/shipped_recipes.hpp"
#include "formats/workload/workload.hpp"

namespace emplace::app {

namespace {

// Whether the argument is a problem or a model, and no recipe.
bool is_problem(const std::string& argument) {
  if (experiment::is_shipped_recipe(argument)) return false;
  const bool is_placed = source::is_graph_at_machine(argument);  // the machine may be a TOML file too
  if (argument.ends_with(".toml") && (!is_placed || file_exists(argument))) return false;
  if (is_placed || argument.starts_with("zoo:") || source::file_of_model(argument) != argument) return true;
  std::error_code none;
  if (!file_exists(argument)) return source::is_problem_file(argument);  // FILE#INSTANCE
  if (formats::reader_of(argument) != nullptr) return true;
  return std::filesystem::is_regular_file(argument, none) && formats::is_problem_text(read_file(argument));
}

// Whether the argument is KEY=VALUE; "zoo:nmt?layers=2" is not.
bool is_override(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  constexpr const char* of_keys = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return equals != std::string::npos && equals > 0 && argument.find_first_not_of(of_keys) == equals &&
         !file_exists(argument);
}

}  // namespace

void RecipeWords::tell_apart() {
  if (!recipe.empty()) overrides.insert(overrides.begin(), std::exchange(recipe, {}));
  std::vector<std::string> names;
  std::erase_if(overrides, [&](const std::string& word) {
    if (is_override(word)) return false;
    names.push_back(word);
    return true;
  });
  auto name = names.begin();
  if (name != names.end() && !is_problem(*name)) recipe = *name++;
  if (name == names.end()) return;
  problem = *name++;
  if (!is_problem(problem) && !file_exists(problem))
    throw InputError(command_line, "{} is neither KEY=VALUE nor a PROBLEM (a file, or MODEL@MACHINE)", quote(problem));
  const auto is_model = [&] {
    return problem.starts_with("zoo:") || formats::reader_of(source::file_of_model(problem)) != nullptr;
  };
  if (name != names.end() && !source::is_graph_at_machine(problem) && is_model()) problem += "@" + *name++;
  if (name != names.end())
    throw InputError(command_line, "the problem is given twice, as {} and as {} (a recipe comes before its problem)",
                     quote(problem), quote(*name));
  for (const std::string& text : overrides)
    for (const char* key : {"problem", "problems", "graph", "machine"})
      if (text.substr(0, text.find('=')) == key)
        throw InputError(command_line, "the problem is given twice, as {} and as {}", quote(problem), quote(text));
}

ConfigTable RecipeWords::table() const {
  ConfigTable table = experiment::read_recipe(recipe.empty() ? experiment::recommended_recipe : recipe, command_line);
  if (!problem.empty()) experiment::apply_values(table, {{"problem", {problem, command_line}}});
  return table;
}

}  // namespace emplace::app
