// Measured op times: what a runtime's profiler or a person wrote down.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace emplace {

struct ProfileRow {
  std::string op;            // name of the graph's op
  std::string type;          // its type as the profile has it; "": not said
  double seconds = 0;        // zero or more
  std::uint32_t device = 0;  // position in Profile::devices
  std::uint32_t line = 0;    // of the file, from 1; 0: none (JSON)
};

struct Profile {
  std::string file;
  // The devices that the file names (columns of a table). One "" where it does not say what was measured.
  std::vector<std::string> devices;
  std::vector<ProfileRow> rows;       // (op, device) is unique
  std::vector<std::string> warnings;  // sentences for people
};

// Reads one of three forms, told apart by their beginning:
// - ONNX Runtime's profiling JSON: an array of events, of which those of category "Node" named `<op>_kernel_time`
// count;
//   `dur` is in microseconds. An op that was run several times counts with its shortest time.
// - A table by op, tab-separated, whose header has `node`, `op` (the type) and `min_us`, in microseconds.
// - A table op x device, separated by tabs or commas (fields with a comma in double quotes): a header whose first cell
// is
//   free and whose others are device names, each optionally followed by a unit, "gpu:0 (ms)" (s, ms, us, ns; seconds
//   without), then a row an op. An empty cell was not measured.
// InputError with file and line for anything else, repeated ops, times that are negative or no numbers, files over
// 256 MiB.
Profile read_profile(const std::string& file);
Profile parse_profile(const std::string& text, const std::string& file);

}  // namespace emplace
