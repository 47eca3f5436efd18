#include "app/train_config.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/formats/reader.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/recipe_keys.hpp"
#include "experiment/recipe/shipped_recipes.hpp"
#include "formats/workload/workload.hpp"

namespace emplace::app {

namespace {

constexpr const char* command_line = "command line";

// Whether the argument is a problem or a model, and no recipe.
bool is_problem(const std::string& argument) {
  if (experiment::is_shipped_recipe(argument) || argument.ends_with(".toml")) return false;
  if (source::is_graph_at_machine(argument) || argument.starts_with("zoo:")) return true;
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

// Tells the words of the command line apart: KEY=VALUE in any place, RECIPE, PROBLEM. MODEL MACHINE is MODEL@MACHINE.
void sort_words(TrainArguments& arguments) {
  std::vector<std::string> names;
  if (!arguments.recipe.empty()) arguments.overrides.insert(arguments.overrides.begin(), arguments.recipe);
  arguments.recipe.clear();
  std::erase_if(arguments.overrides, [&](const std::string& word) {
    if (!is_override(word)) names.push_back(word);
    return !is_override(word);
  });
  auto name = names.begin();
  if (name != names.end() && !is_problem(*name)) arguments.recipe = *name++;
  if (name == names.end()) return;
  arguments.problem = *name++;
  if (!is_problem(arguments.problem) && !file_exists(arguments.problem))
    throw InputError(command_line, "{} is neither KEY=VALUE nor a PROBLEM (a file, or MODEL@MACHINE)",
                     quote(arguments.problem));
  const bool is_model = arguments.problem.starts_with("zoo:") || formats::reader_of(arguments.problem) != nullptr;
  if (name != names.end() && is_model && !source::is_graph_at_machine(arguments.problem))
    arguments.problem += "@" + *name++;
  if (name != names.end())
    throw InputError(command_line, "the problem is given twice, as {} and as {} (a recipe comes before its problem)",
                     quote(arguments.problem), quote(*name));
}

void refuse_second_problem(const TrainArguments& arguments) {
  if (arguments.problem.empty()) return;
  for (const std::string& text : arguments.overrides)
    for (const char* key : {"problem", "problems", "graph", "machine"})
      if (text.substr(0, text.find('=')) == key)
        throw InputError(command_line, "the problem is given twice, as {} and as {}", quote(arguments.problem),
                         quote(text));
}

// The options of the command line that are keys of the recipe too, as overrides.
std::vector<std::string> overrides_of(const TrainArguments& arguments) {
  std::vector<std::string> overrides = arguments.overrides;
  if (arguments.seed) overrides.push_back(fmt::format("seed={}", *arguments.seed));
  if (arguments.evaluations) overrides.push_back(fmt::format("evaluations={}", *arguments.evaluations));
  if (arguments.seconds) overrides.push_back(fmt::format("seconds={}", *arguments.seconds));
  if (!arguments.schedule.empty()) overrides.push_back("schedule=" + arguments.schedule);
  if (!arguments.objective.empty()) overrides.push_back("objective=" + arguments.objective);
  return overrides;
}

void refuse_what_cannot_change(const std::vector<std::string>& overrides) {
  for (const std::string& text : overrides)
    if (const std::string key = text.substr(0, text.find('=')); !experiment::may_change_on_resume(key))
      throw InputError(command_line, "--resume continues the run as it is; {} cannot be changed (these keys can: {})",
                       quote(key), join(experiment::keys_that_may_change_on_resume(), ", "));
}

bool measures(const ConfigTable& table) {
  const std::string name = table.text("evaluator", evaluate::EvaluatorChoice().name);
  return std::ranges::any_of(evaluate::evaluators(),
                             [&](const auto& entry) { return entry.name == name && entry.measures; });
}

bool names_a_problem(const ConfigTable& table) {
  return table.contains("problem") || table.contains("problems") || table.contains("graph");
}

// The folder of a run whose recipe names none: runs/NAME of the recipe or of the model.
std::string folder_for(const TrainArguments& arguments, const ConfigTable& table, bool recommended) {
  if (!recommended) return "runs/" + std::filesystem::path(arguments.recipe).stem().string();
  for (const char* key : {"problem", "graph"})
    if (table.contains(key)) return "runs/" + source::short_name(table.text(key));
  return std::string("runs/") + experiment::recommended_recipe;
}

}  // namespace

void check(TrainArguments& arguments) {
  sort_words(arguments);
  if (arguments.resume.empty()) {
    if (arguments.recipe.empty() && arguments.problem.empty() && arguments.overrides.empty())
      throw InputError(command_line, "give a recipe, a PROBLEM, or --resume RUN to continue a run");
    refuse_second_problem(arguments);
    return;
  }
  for (const std::string& name : {arguments.recipe, arguments.problem})
    if (!name.empty())
      throw InputError(command_line, "--resume continues a run by its own recipe; found {} too", quote(name));
  if (!arguments.init.empty())
    throw InputError(command_line, "--resume continues with the run's own parameters; --init is for a new run");
}

ConfigTable read_config(const TrainArguments& arguments, const experiment::RunFolder* resumed) {
  if (resumed != nullptr) {
    ConfigTable table = resumed->config();
    const std::vector<std::string> overrides = overrides_of(arguments);
    refuse_what_cannot_change(overrides);
    experiment::apply_overrides(table, overrides);
    return table;
  }
  const bool recommended = arguments.recipe.empty();
  ConfigTable table =
      experiment::read_recipe(recommended ? experiment::recommended_recipe : arguments.recipe, command_line);
  if (!arguments.problem.empty()) experiment::apply_values(table, {{"problem", {arguments.problem, command_line}}});
  experiment::apply_overrides(table, overrides_of(arguments));
  if (recommended && !names_a_problem(table))
    throw InputError(command_line, "nothing to place: give a PROBLEM, or `graph` and `machine`");
  if (recommended)
    log_info("no recipe is named: {} is taken; `emplace list recipes` shows the others",
             experiment::recommended_recipe);
  if (!arguments.init.empty()) table.set("init", {arguments.init, "--init"});
  if (!table.contains("run")) table.set("run", {folder_for(arguments, table, recommended), "default"});
  if (recommended && !table.contains("stop_at_bound") && !measures(table))
    table.set("stop_at_bound", {true, "recommended recipe"});
  return table;
}

}  // namespace emplace::app
