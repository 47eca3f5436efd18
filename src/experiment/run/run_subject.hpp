// What a verdict says of a training's result: the same for the command that trains and for the page of its run.
#pragma once

#include <string>

#include "experiment/recipe/recipe.hpp"
#include "verdict/verdict.hpp"

namespace emplace::experiment {

// The subject for the training's problem at position `problem`, whose run is in the folder `run`; the caller sets what
// was found (outcome, proof, seconds, curve).
verdict::Subject subject_of_run(const Recipe& recipe, const std::string& run, std::size_t problem);

}  // namespace emplace::experiment
