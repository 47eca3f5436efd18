// Measured op times, from a runtime's profiler or from a table written by the user.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace emplace::cost {

struct ProfileRow {
  std::string op;               // name of the graph's op, or of the tensor that a kernel produces
  std::string type;             // the op's type in the profile; "" if it has none
  std::vector<double> seconds;  // one for each device, zero or more; NaN: not measured there
  std::uint32_t line = 0;       // of the file, from 1; 0: none (JSON)
};

struct Profile {
  std::string file;
  // The devices that the file names (columns of a table). A single "" if it does not name the device.
  std::vector<std::string> devices;
  std::vector<ProfileRow> rows;                             // ops are unique; each has a time on some device
  double run_s = std::numeric_limits<double>::quiet_NaN();  // the shortest whole run; NaN: the file has none
  std::vector<std::string> warnings;                        // sentences for users
};

// Reads one of three forms, which are recognised by their beginning:
// - ONNX Runtime's profiling JSON: an array of events. Events of category "Node" named `<op>_kernel_time` are kernels,
//   those named "model_run" are whole runs; `dur` is in microseconds. Of several runs the shortest time is used.
// - A table by op, tab-separated, whose header has `node`, `op` (the type) and `min_us`, in microseconds.
// - A table op x device, separated by tabs or commas (fields with a comma in double quotes). The first cell of its
//   header is any text, the others are device names, optionally followed by a unit, "gpu:0 (ms)" (s, ms, us, ns;
//   seconds without). Then follows one row for each op; an empty cell means that the op was not measured.
// InputError with file and line for anything else, repeated ops, times that are negative or no numbers, more than four
// million ops, files over 256 MiB.
Profile read_profile(const std::string& file);
Profile parse_profile(const std::string& text, const std::string& file);

}  // namespace emplace::cost
