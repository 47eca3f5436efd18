// A sweep from its first trial to its last: works go to groups of ranks, the record, the table and the folders follow.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "emplace/dist/world.hpp"
#include "experiment/sweep/sweep_run.hpp"

namespace emplace::experiment {

// The folder of a trial in that of its sweep.
std::string trial_folder(const std::string& sweep_folder, std::size_t trial);

// InputError where there are fewer ranks than one trial wants; a warning where some will idle.
void check_ranks(const Sweep& sweep, const dist::World* world);

struct SweepSession {
  dist::World* world = nullptr;  // null, or of one rank: trials are trained here, one after the other
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  bool show_progress = true;
  bool writes_table = true;  // sweep.csv
};

// Hands out works until the sweep is finished (true), or a stop is requested or the deadline near (false: every trial
// that was being trained has its checkpoint). EnvironmentError where a trial's folder cannot be had; the others end as
// for a stop. `folder` gets sweep.csv and trials/NUMBER. The ranks
// are as check_ranks() wants them.
bool run_sweep(const Sweep& sweep, SweepRun& run, const std::string& folder, const SweepSession& session);

// Ranks other than 0: trials for run_sweep(), as long as it has any.
void train_trials(dist::World& world);

}  // namespace emplace::experiment
