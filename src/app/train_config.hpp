// The command line of `train`, and the recipe's table that it means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/recipe_words.hpp"
#include "emplace/base/config.hpp"
#include "experiment/run/run_folder.hpp"

namespace emplace::app {

struct TrainArguments {
  RecipeWords words;
  std::string resume;
  bool go_on = false;
  std::string init;
  std::optional<std::uint64_t> seed, evaluations;
  std::optional<double> seconds;
  TimeLimitArgument time_limit;
  std::string schedule, objective;
  bool json = false;
};

// Tells recipe, problem and overrides apart. InputError if there is neither a recipe (or a problem) nor a run to
// resume, or what cannot go together.
void check(TrainArguments& arguments);

// The table of the recipe, or of the resumed run (else null), with the overrides of the command line applied. Without a
// recipe, the recommended one is taken. InputError for a key that a resumed run cannot change.
ConfigTable read_config(const TrainArguments& arguments, const experiment::RunFolder* resumed);

}  // namespace emplace::app
