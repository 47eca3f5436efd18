// Reads a sweep's folder without changing it: while the sweep runs, after its end, and after a kill.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiment/run/run_folder.hpp"
#include "experiment/sweep/sweep.hpp"
#include "experiment/sweep/sweep_run.hpp"

namespace emplace::experiment {

inline constexpr const char* sweep_record_name = "record.jsonl";

// The record of a trial of a job array, in the folder of its sweep; and all such records that exist.
std::string record_of_trial(const std::string& folder, std::size_t trial);
std::vector<std::string> records_of_array(const Sweep& sweep, const std::string& folder);

struct SweepFolder {
  std::string path;
  Sweep sweep;
  bool array = false;  // a job array: its trials are trained separately, each with its own record
  bool live = false;   // a process is training one of its trials
  std::string status;  // "running", "finished", "interrupted", "failed" or "unknown", as written last
  std::vector<TrialRow> rows;
  // Trials in the order in which they ended; empty for an array, since its separate records have no common order.
  std::vector<std::size_t> ended;
};

// The folder of this sweep if it was begun before; none if there is nothing in it. InputError if it holds another sweep
// or a run of `train`; InUse if a live process still works in it after `patience_s` seconds.
std::optional<RunFolder> begun_sweep(const Sweep& sweep, double patience_s);

// Whether the folder has the config.toml of a sweep.
bool is_sweep_folder(const std::string& path);
// Trials that began but are not being trained now have the status `waiting`. InputError for a damaged configuration or
// record; a damaged record of a trial of an array is left out with a warning.
SweepFolder read_sweep_folder(const std::string& path);

}  // namespace emplace::experiment
