// Checks that find mistakes in a sweep before anything is trained.
#pragma once

#include <vector>

#include "experiment/recipe/idle_options.hpp"
#include "experiment/sweep/sweep.hpp"

namespace emplace::experiment {

// Trials are compared by their objectives, so all objectives must measure the same. InputError for a parameter that
// changes what is measured.
void refuse_incomparable(const Space& space, const SweepStrategyEntry& strategy);
// InputError if the recipe of a corner of the space is invalid.
void check_corners(const Sweep& sweep);
// Keys that vary, and options of the recipe that differ from their defaults, if they have no effect in any trial.
std::vector<IdleOption> idle_in_all_trials(const Sweep& sweep);
// InputError if the smallest share of a budget, `first` (of the first rung), is less than one update or evaluation.
void check_shares(const Sweep& sweep, double first);

}  // namespace emplace::experiment
