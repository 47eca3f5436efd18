// Measured op times, from a runtime's profiler or from a table written by the user.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace emplace::cost {

struct ProfileRow {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  std::string op;               // name of the graph's op, or of the tensor that a kernel produces
  std::string type;             // the op's type in the profile; "" if it has none
  std::vector<double> seconds;  // one for each device, zero or more; NaN: not measured there
  std::uint32_t line = 0;       // of the file, from 1; 0: none (JSON)
  // What a runtime that fuses ops says of a kernel:
  bool fused = false;              // it computes more ops than those that are named
  std::vector<std::string> parts;  // all ops that it computes, in place of `op`, if they are listed
  std::uint32_t reader = none;     // the row of the kernel that reads its result
};

struct Profile {
  std::string file;
  // The devices that the file names (columns of a table). A single "" if it does not name the device.
  std::vector<std::string> devices;
  std::vector<ProfileRow> rows;                             // ops are unique; each has a time on some device
  double run_s = std::numeric_limits<double>::quiet_NaN();  // of a whole run; NaN: the file has none
  bool whole_run = false;             // a runtime measured all ops that it ran; else a user chose them
  bool fused_run = false;             // the file says that the runtime fused ops
  std::vector<std::string> warnings;  // sentences for users
};

// Reads a profile of one of these forms, which are recognised by their beginning. Of several runs in a file the first
// one, a warm-up, is dropped, and the median of the others counts.
// - ONNX Runtime's profiling JSON: an array of events. Events of category "Node" named `<op>_kernel_time` are kernels,
//   those named "model_run" are whole runs; `dur` is in microseconds.
// - A trace of PyTorch's profiler: an object with "traceEvents". Each range of record_function without a range inside
//   it is an op: the time of the ATen calls in it. Calls outside of ranges have the name that torch.export gives to the
//   n-th call of an op in a step (linear, linear_1, ...). Steps are ranges "ProfilerStep#N".
// - OpenVINO: the execution graph (XML) with execTimeMcs, and the table of detailed counters.
// - TensorFlow: RunMetadata and StepStats (binary or text), the timeline made of them, and the XSpace of its profiler.
// - A table by op, tab-separated, whose header has `node`, `op` (the type) and `min_us`, in microseconds.
// - A table op x device, separated by tabs or commas (fields with a comma in double quotes). The first cell of its
//   header is any text, the others are device names, optionally followed by a unit, "gpu:0 (ms)" (s, ms, us, ns;
//   seconds without). Then follows one row for each op; an empty cell means that the op was not measured.
// InputError with file and line for anything else, repeated ops, times that are negative or no numbers, more than four
// million ops, files over 256 MiB.
Profile read_profile(const std::string& file);
Profile parse_profile(const std::string& text, const std::string& file);

}  // namespace emplace::cost
