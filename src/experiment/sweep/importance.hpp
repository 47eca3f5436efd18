// How much of the difference between trials each parameter explains, and trials as points of the unit cube.
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
// (Hutter et al. 2014) calls the variance of the parameter's marginal, with a histogram in place of a forest; what two
// parameters explain only together is in neither's share. Some is explained by chance: `by_chance` is the mean over
// shuffles of the objectives and `noise` their 95th percentile, below which a share says nothing.
struct Importance {
  std::string key;
  std::size_t trials = 0;  // those compared: with an objective, and the parameter active
  std::size_t groups = 0;  // of values: each choice or number of few, else intervals with equally many trials
  double share = 0;        // in [0, 1]; 0 where less than three trials or two groups can be compared
  double by_chance = 0;
  double noise = 0;
};

// One a parameter, in the space's order. Trials that were stopped early count with the objective that they had; those
// without an objective do not.
std::vector<Importance> importances(const Space& space, std::span<const TrialRow> rows, std::uint64_t seed = 0);

// A trial in parallel coordinates: one number in [0, 1] a parameter, as Space::encode, none where it is not active.
struct TrialPoint {
  std::size_t trial = 0;
  double objective = 0;
  std::vector<std::optional<double>> coordinates;
};
// The trials with an objective, the best last, so that a picture draws it over the others.
std::vector<TrialPoint> parallel_coordinates(const Space& space, std::span<const TrialRow> rows);

}  // namespace emplace::experiment
