// A sweep's folder read by somebody who does not work in it: while it goes on, after its end, and after a kill.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiment/sweep/sweep.hpp"
#include "experiment/sweep/sweep_run.hpp"

namespace emplace::experiment {

inline constexpr const char* sweep_record_name = "record.jsonl";

// Where a trial of a job array keeps its own record, in its sweep's folder; and those that are there.
std::string record_of_trial(const std::string& folder, std::size_t trial);
std::vector<std::string> records_of_array(const Sweep& sweep, const std::string& folder);

struct SweepFolder {
  std::string path;
  Sweep sweep;
  bool array = false;  // its trials are trained one by one, each with a record of its own
  bool live = false;   // a process trains one of its trials now
  std::string status;  // "running", "finished", "interrupted", "failed" or "unknown", as it was written last
  std::vector<TrialRow> rows;
  // Trials in the order in which they ended; empty for an array, whose records do not know of each other.
  std::vector<std::size_t> ended;
};

// Whether config.toml there is that of a sweep.
bool is_sweep_folder(const std::string& path);
// Writes nothing. Trials that began and that nobody trains now are waiting. InputError for a damaged configuration or
// record; a damaged record of an array's trial is left out with a warning.
SweepFolder read_sweep_folder(const std::string& path);

}  // namespace emplace::experiment
