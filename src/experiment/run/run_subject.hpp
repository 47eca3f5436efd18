// What a verdict says of a training's result: the same for the command that trains and for the page of its run.
#pragma once

#include <string>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "experiment/recipe/recipe.hpp"
#include "verdict/verdict.hpp"

namespace emplace::experiment {

struct RunResult {
  std::string run;           // folder
  std::size_t position = 0;  // of the problem in the recipe; after these come those that were held out
  const Problem* problem = nullptr;
  const Placement* placement = nullptr;
  bool has_page = false;  // the verdict is for the run's report, which it need not propose
};

// The subject for a placement that a run found, without its outcome and without what the caller knows of the training
// (seconds, curve). For a held-out problem only the training can go on.
verdict::Subject subject_of_run(const Recipe& recipe, const RunResult& result);

}  // namespace emplace::experiment
