// A sweep over policies or learners has the options of all of them in its recipe; the recipe of a trial must have only
// those of its own policy and learner.
#pragma once

#include "emplace/base/config.hpp"
#include "experiment/sweep/space.hpp"

namespace emplace::experiment {

// Removes from `recipe` the options of those policies and learners among the choices of `space` that it does not use.
void drop_other_methods(ConfigTable& recipe, const Space& space);

// Removes from a sweep's recipe the keys that vary, so that a key that is not active in a trial has no value there. If
// the recipe's policy or learner is not among the choices, its options are removed too.
void leave_out_varying(ConfigTable& recipe, const Space& space);

}  // namespace emplace::experiment
