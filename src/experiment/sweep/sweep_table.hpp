// Texts of a sweep for people: sweep.csv, and the lines that a terminal shows while the sweep runs.
#pragma once

#include <span>
#include <string>

#include "experiment/sweep/space.hpp"
#include "experiment/sweep/sweep_run.hpp"

namespace emplace::experiment {

// One row for each trial, in their order: trial, status, objective (seconds; empty if there is none), a column for each
// parameter (empty if it is not active or not chosen yet), rung, share (of the budget), updates, evaluations,
// wall_seconds, error. Quoted as in RFC 4180; line breaks in errors become blanks.
std::string sweep_csv(const Space& space, std::span<const TrialRow> rows);

// "ppo.learning_rate = 0.01, groups = 64": the active parameters of a trial that has begun.
std::string describe_values(const Space& space, const TrialRow& row);

struct SweepClock {
  double elapsed_seconds = 0;  // of this session
  double planned_budgets = 0;  // SweepStrategy::planned_budgets; 0: not known
  std::size_t at_once = 1;     // trials that train at a time
};

// Three lines: the best trial with its values; how many trials are finished, stopped, failed, running and waiting; and
// the expected end, which is the remaining budgets times the mean time of the spent ones.
std::string sweep_progress(const Space& space, std::span<const TrialRow> rows, const SweepClock& clock);

// The row with the lowest objective, the first of equal ones; null if there is none. Trials that were stopped early
// count too, because their placements are found as well.
const TrialRow* best_row(std::span<const TrialRow> rows);

}  // namespace emplace::experiment
