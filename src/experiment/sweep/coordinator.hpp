// Runs a sweep from its first trial to its last: hands out works to groups of ranks, and writes the record, the table
// and the trials' folders.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "emplace/dist/world.hpp"
#include "experiment/sweep/sweep_run.hpp"

namespace emplace::experiment {

// The folder of a trial, inside the folder of its sweep.
std::string trial_folder(const std::string& sweep_folder, std::size_t trial);

// InputError if there are fewer ranks than one trial needs; logs a warning if some ranks will idle.
void check_ranks(const Sweep& sweep, const dist::World* world);

struct SweepSession {
  dist::World* world = nullptr;  // if null or of one rank, this process trains the trials one after the other
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  bool show_progress = true;
  bool writes_table = true;  // sweep.csv
};

// Hands out works until the sweep is finished (returns true), or until a stop is requested or the deadline is near
// (returns false; every trial that was being trained has a checkpoint). Throws EnvironmentError if a trial's folder
// cannot be written or is in use; the other trials then end as for a stop. `folder` gets sweep.csv and trials/NUMBER.
// check_ranks() must have passed.
bool run_sweep(const Sweep& sweep, SweepRun& run, const std::string& folder, const SweepSession& session);

// Runs on ranks other than 0: trains trials for run_sweep() until it has no more.
void train_trials(dist::World& world);

}  // namespace emplace::experiment
