// Measured op times: what a runtime's profiler or a person wrote down.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace emplace::cost {

struct ProfileRow {
  std::string op;               // name of the graph's op, or of a tensor: the kernel that makes it
  std::string type;             // its type as the profile has it; "": not said
  std::vector<double> seconds;  // one a device, zero or more; NaN: not measured there
  std::uint32_t line = 0;       // of the file, from 1; 0: none (JSON)
};

struct Profile {
  std::string file;
  // The devices that the file names (columns of a table). One "" where it does not say what was measured.
  std::vector<std::string> devices;
  std::vector<ProfileRow> rows;                             // ops are unique; each has a time on some device
  double run_s = std::numeric_limits<double>::quiet_NaN();  // the shortest whole run; NaN: the file says none
  std::vector<std::string> warnings;                        // sentences for people
};

// Reads one of three forms, told apart by their beginning:
// - ONNX Runtime's profiling JSON: an array of events, of which those of category "Node" named `<op>_kernel_time`
// count,
//   and those called "model_run" as whole runs; `dur` is in microseconds. Of several runs the shortest time counts.
// - A table by op, tab-separated, whose header has `node`, `op` (the type) and `min_us`, in microseconds.
// - A table op x device, separated by tabs or commas (fields with a comma in double quotes): a header whose first cell
// is
//   free and whose others are device names, each optionally followed by a unit, "gpu:0 (ms)" (s, ms, us, ns; seconds
//   without), then a row an op. An empty cell was not measured.
// InputError with file and line for anything else, repeated ops, times that are negative or no numbers, more than four
// million ops, files over 256 MiB.
Profile read_profile(const std::string& file);
Profile parse_profile(const std::string& text, const std::string& file);

}  // namespace emplace::cost
