// Profiles laid over a graph: which ops of it were measured, on which devices.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emplace/cost/profile.hpp"
#include "emplace/graph/passes.hpp"
#include "emplace/machine/machine.hpp"

namespace emplace::cost {

// A profile and what it measured: a device's name, or that of several such as "gpu" for gpu:0 and gpu:1. "" where the
// profile names its devices, or the machine has only one.
struct DeviceProfile {
  Profile profile;
  std::string device;
};

// Times that are not used.
struct UnusedTimes {
  std::size_t times = 0;
  std::vector<std::string> ops;  // each once
};

// What became of a profile's times. Together: times.
struct ProfileUse {
  std::string file;
  bool fused_run = false;
  std::size_t times = 0;
  std::size_t used = 0;          // of ops of the problem, or of ops that were fused into one
  std::size_t folded = 0;        // of ops that the passes fold away
  double folded_s = 0;           // these times together
  UnusedTimes unmatched;         // that no op of the graph has
  UnusedTimes other_type;        // of ops that have another type in the graph
  UnusedTimes partial;           // of ops fused into one with others that were not measured
  UnusedTimes fused;             // of the kernels of a fused run, where ops are not fused here
  std::vector<double> device_s;  // per device of the machine: all its times together, used or not; 0: none
  double run_s = 0;              // Profile::run_s
};

struct MeasuredTimes {
  std::vector<double> seconds;  // kernels x devices; NaN: not measured
  std::vector<ProfileUse> profiles;
};

// Was the profile made of a run in which the runtime fused ops and chose layouts for the whole graph? Such kernels are
// named for the tensor that they make, ONNX Runtime's in blocked layout `<tensor>_nchwc`: a row names a tensor of an
// op.
bool is_fused_run(const Profile& profile, const Graph& graph);

// `kernels` is `input` after kernel_passes (cost/lower.hpp), `fused` whether fusion was one of them. Where it was, the
// rows of a fused run are the times of kernels: those that name one of its ops or of the tensors that these make,
// together. Other rows are the times of ops one by one. Of these a kernel that is one op takes that op's; one that was
// fused of several, all of them measured, takes the times of those of its own class (the convolution that activations
// joined; the others do their work on values that the kernel has at hand). With fusion that is multiplied by what the
// roofline says of the kernel over what it says of these ops.
// InputError for devices that the machine lacks, a profile that does not say its device on a machine of several, an op
// that two profiles of one kind time on one device, and a profile that fits no op at all.
MeasuredTimes measured_times(const PassResult& kernels, const Graph& input, const machine::Machine& machine,
                             std::span<const DeviceProfile> profiles, bool fused);

// Positions of the devices that `name` means: the device called so, or all called name:0, name:1, ...; InputError with
// the nearest name if there are none.
std::vector<std::size_t> devices_meant(const machine::Machine& machine, const std::string& name,
                                       const std::string& place);

// What was not used of each profile, with the nearest names, as sentences for people.
std::vector<std::string> profile_warnings(const MeasuredTimes& measured, const Graph& graph);

}  // namespace emplace::cost
