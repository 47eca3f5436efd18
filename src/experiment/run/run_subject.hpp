// What a verdict says of a training's result: the same for the command that trains and for the page of its run.
#pragma once

#include <string>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "experiment/recipe/recipe.hpp"
#include "verdict/verdict.hpp"

namespace emplace::experiment {

// The subject for the problem at this position of the recipe, of the run in the folder `run`; the caller sets what was
// found (outcome, proof, seconds, curve). After the recipe's problems come those that were held out, for which only the
// training can go on. `placement`: the one found, or null.
verdict::Subject subject_of_run(const Recipe& recipe, const std::string& run, std::size_t position,
                                const Problem& problem, const Placement* placement);

}  // namespace emplace::experiment
