// What can be known to be wrong with a sweep before anything is trained.
#pragma once

#include "experiment/sweep/sweep.hpp"

namespace emplace::experiment {

// Trials are compared by their objectives: all must mean the same. InputError for a parameter that changes it.
void refuse_incomparable(const Space& space, const SweepStrategyEntry& strategy);
// InputError where the recipe of a corner of the space is none.
void check_corners(const Sweep& sweep);
// Shares of a budget must be something to train; `first` is that of the first rung, the smallest.
void check_shares(const Sweep& sweep, double first);

}  // namespace emplace::experiment
