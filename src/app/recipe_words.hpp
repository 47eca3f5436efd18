// The words [RECIPE] [PROBLEM] [KEY=VALUE ...] of a command line.
#pragma once

#include <string>
#include <vector>

#include "emplace/base/config.hpp"

namespace emplace::app {

// Where an error in them is.
inline constexpr const char* command_line = "command line";

struct RecipeWords {
  std::string recipe, problem;  // before tell_apart() the recipe is the first word, whatever it is
  std::vector<std::string> overrides;

  // KEY=VALUE may be in any place, and MODEL MACHINE is MODEL@MACHINE. InputError for a second problem and for a word
  // that is nothing of these.
  void tell_apart();
  [[nodiscard]] bool none() const { return recipe.empty() && problem.empty() && overrides.empty(); }
  // The recipe, by default the recommended one, with the problem; the overrides are not applied.
  [[nodiscard]] ConfigTable table() const;
};

}  // namespace emplace::app
