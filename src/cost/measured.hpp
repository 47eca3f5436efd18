// Matches the times of profiles with the ops of a graph: which ops were measured, and on which devices.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "cost/profile.hpp"
#include "emplace/machine/machine.hpp"
#include "graph/passes/passes.hpp"

namespace emplace::cost {

// A profile and the device that it measured: a device's name, or the name of several such as "gpu" for gpu:0 and gpu:1.
// "" if the profile names its devices or the machine has only one.
struct DeviceProfile {
  Profile profile;
  std::string device;
};

// Times of a profile that are not used.
struct UnusedTimes {
  std::size_t times = 0;
  std::vector<std::string> ops;  // each once
};

// How the times of a profile were used. The counts below add up to `times`.
struct ProfileUse {
  std::string file;
  bool fused_run = false, whole_run = false;
  std::size_t times = 0;
  std::size_t used = 0;          // of ops of the problem, or of ops that were fused into one
  std::size_t folded = 0;        // of ops that the passes remove
  double folded_s = 0;           // the sum of these times
  std::size_t beside = 0;        // of kernels of the runtime's own, added to the kernels that read their results
  UnusedTimes unmatched;         // of names that no op of the graph has
  UnusedTimes other_type;        // of ops that have another type in the graph
  UnusedTimes partial;           // of ops that are fused with others that were not measured
  UnusedTimes fused;             // of the kernels of a fused run, if ops are not fused here
  std::vector<double> device_s;  // per device of the machine: the sum of all its times, used or not; 0 if it has none
  double run_s = 0;              // Profile::run_s
  // Times of ops that the graph has, used or not, without those beside it; and all times.
  std::size_t joined = 0;
  double joined_s = 0, total_s = 0;
  // The share of the graph's time, as estimated, in ops that have a time here; NaN if a user chose the ops.
  double covered_share = std::numeric_limits<double>::quiet_NaN();
};

struct MeasuredTimes {
  std::vector<double> seconds;  // kernels x devices; NaN: not measured
  std::vector<bool> shared;     // per kernel: its time is a part of what several took together; empty: none is
  // Sets of kernels that the runtime ran as one, which a cut between them would prevent.
  std::vector<std::vector<OpId>> together;
  std::vector<ProfileUse> profiles;
};

// Whether the profile is of a fused run, in which the runtime fused ops and chose layouts for the whole graph. The
// kernels of such a run are named after the tensor that they produce (`<tensor>_nchwc` in ONNX Runtime's blocked
// layout), so that some row names a tensor instead of an op.
bool is_fused_run(const Profile& profile, const Graph& graph);

// `kernels` is the result of kernel_passes (cost/lower.hpp) for `input`; `fused` is whether fusion was one of the
// passes. If it was, the rows of a fused run are the times of kernels: the time of a kernel is the sum of the rows that
// name one of its ops or a tensor that these produce; a row of several kernels is divided among them in proportion to
// the roofline's times (cost/computed_kernels.hpp), and lower() places them on one device, unless other rows compute
// them, too. The rows of other profiles are the times of single ops. A kernel that is one op has that op's time. For a
// kernel that was fused from several ops, all of which must be measured, only the times of the ops of its own class
// count (the convolution to which activations were fused; the others work on values that are in registers or caches).
// With fusion, these times are multiplied by the roofline's time of the kernel over the roofline's time of these ops.
// InputError for devices that the machine lacks, a profile without a device's name if the machine has several, an op
// with times of one device in two profiles of the same kind, and a profile that matches no op.
MeasuredTimes measured_times(const PassResult& kernels, const Graph& input, const machine::Machine& machine,
                             std::span<const DeviceProfile> profiles, bool fused);

// InputError with the shares if less than half of the profile's times, by their number or their sum, are of ops of the
// graph, or if a runtime measured all ops that it ran and these are less than half of the graph's estimated time.
void refuse_other_model(const ProfileUse& use, const Graph& graph);

// Positions of the devices that `name` means: the device called `name`, or all devices called name:0, name:1, ...
// InputError, which suggests the most similar name, if there are none.
std::vector<std::size_t> devices_meant(const machine::Machine& machine, const std::string& name,
                                       const std::string& place);

// Warnings about the times of each profile that were not used, with the most similar names, as sentences for users.
std::vector<std::string> profile_warnings(std::span<const ProfileUse> profiles, const Graph& graph);

}  // namespace emplace::cost
