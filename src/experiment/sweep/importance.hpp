// How much of the variance between trials each parameter explains; trials as points of the unit cube.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/sweep/space.hpp"
#include "experiment/sweep/sweep_run.hpp"

namespace emplace::experiment {

// A parameter's main effect: its correlation ratio (eta squared; Fisher 1925, section 45), the share of the variance of
// the objectives' logarithms that lies between groups of trials with about the same value. It is what functional ANOVA
// (Hutter et al. 2014) calls the variance of the parameter's marginal, with a histogram in place of a forest; the joint
// effect of two parameters is not included. Chance alone also gives shares above 0: `by_chance` is the mean share over
// shuffles of the objectives, and `noise` the 95th percentile; a share below `noise` may be chance.
struct Importance {
  std::string key;
  std::size_t trials = 0;  // trials with an objective in which the parameter is active
  std::size_t groups = 0;  // groups of values: each value if they are few, else intervals with equally many trials
  double share = 0;        // in [0, 1]; 0 with fewer than three trials or two groups
  double by_chance = 0;
  double noise = 0;
};

// One element for each parameter, in the space's order. Trials that were stopped early count with their last objective;
// trials without an objective are excluded.
std::vector<Importance> importances(const Space& space, std::span<const TrialRow> rows, std::uint64_t seed = 0);

// A trial in parallel coordinates: a number in [0, 1] for each parameter (Space::encode), none if it is not active.
struct TrialPoint {
  std::size_t trial = 0;
  double objective = 0;
  std::vector<std::optional<double>> coordinates;
};
// The trials with an objective, the best last, so that a picture draws it on top of the others.
std::vector<TrialPoint> parallel_coordinates(const Space& space, std::span<const TrialRow> rows);

}  // namespace emplace::experiment
