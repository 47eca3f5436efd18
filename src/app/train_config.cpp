#include "app/train_config.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/recipe_keys.hpp"
#include "experiment/recipe/shipped_recipes.hpp"

namespace emplace::app {

namespace {

// The options of the command line that are keys of the recipe too, as overrides.
std::vector<std::string> overrides_of(const TrainArguments& arguments) {
  std::vector<std::string> overrides = arguments.words.overrides;
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
  if (!recommended) return "runs/" + std::filesystem::path(arguments.words.recipe).stem().string();
  for (const char* key : {"problem", "graph"})
    if (table.contains(key)) return "runs/" + source::short_name(table.text(key));
  return std::string("runs/") + experiment::recommended_recipe;
}

}  // namespace

void check(TrainArguments& arguments) {
  arguments.words.tell_apart();
  if (arguments.resume.empty()) {
    if (arguments.words.none())
      throw InputError(command_line, "give a recipe, a PROBLEM, or --resume RUN to continue a run");
    return;
  }
  for (const std::string& name : {arguments.words.recipe, arguments.words.problem})
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
  const bool recommended = arguments.words.recipe.empty();
  ConfigTable table = arguments.words.table();
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
