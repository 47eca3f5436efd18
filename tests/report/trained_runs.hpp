// Run folders as trainings leave them, made by a training in this process.
#pragma once

#include <string>

#include "base/files.hpp"
#include "emplace/experiment/train_recipe.hpp"
#include "emplace/formats/problem_json.hpp"

namespace emplace::test {

// A run of `updates` updates in this folder; `recipe`: TOML lines, with what is to be placed.
inline std::string trained(const std::string& folder, const std::string& recipe, int updates = 4) {
  const std::string methods = "policy = \"post\"\nlearner = \"ppo\"\nseed = 7\n";
  const std::string text = methods + fmt::format("updates = {}\nrun = \"{}\"\n", updates, folder) + recipe;
  experiment::train_recipe(ConfigTable::parse_toml(text, "recipe.toml"), nullptr, {});
  return folder;
}

// The same on a problem that is written beside the folder, FOLDER.problem.json.
inline std::string trained_on(const Problem& problem, const std::string& folder, const std::string& recipe = "",
                              int updates = 4) {
  const std::string file = folder + ".problem.json";
  write_file(file, formats::write_problem_json(problem));
  return trained(folder, fmt::format("problem = \"{}\"\n", file) + recipe, updates);
}

}  // namespace emplace::test
