// A sweep over policies or learners has options of all of them in its recipe; a trial's recipe has those of its own.
#pragma once

#include "emplace/base/config.hpp"
#include "experiment/sweep/space.hpp"

namespace emplace::experiment {

// Takes from `recipe` what belongs to policies and learners among the choices of `space` that it does not name.
void drop_other_methods(ConfigTable& recipe, const Space& space);

// Takes from a sweep's recipe the keys that vary, so that one that is not active has no value in a trial. Where the
// recipe's policy or learner is none of the choices, its options go with it.
void leave_out_varying(ConfigTable& recipe, const Space& space);

}  // namespace emplace::experiment
