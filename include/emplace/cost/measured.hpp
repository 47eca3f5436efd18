// Profiles laid over a graph: which ops of it were measured, on which devices.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emplace/cost/profile.hpp"
#include "emplace/graph/passes.hpp"
#include "emplace/machine/machine.hpp"

namespace emplace {

// A profile and what it measured: a device's name, or that of several such as "gpu" for gpu:0 and gpu:1. "" where the
// profile names its devices, or the machine has only one.
struct DeviceProfile {
  Profile profile;
  std::string device;
};

// What became of a profile's rows. Together: rows.
struct ProfileUse {
  std::string file;
  std::size_t rows = 0;
  std::size_t used = 0;                 // of ops of the problem, or of ops that were merged into one
  std::size_t folded = 0;               // of ops that the passes fold away
  double folded_s = 0;                  // their times together
  std::vector<std::string> unmatched;   // names that no op of the graph has
  std::vector<std::string> other_type;  // names of ops that have another type in the graph: kernels of fused ops
  std::vector<std::string> partial;     // names of ops merged into one with others that were not measured
};

struct MeasuredTimes {
  std::vector<double> seconds;  // ops of the graph after passes x devices; NaN: not measured
  std::vector<ProfileUse> profiles;
};

// `passed` is `input` after passes. An op that stands for several merged ones lasts as long as these, if all that work
// were measured, times what the roofline says of it over what it says of them: merging saves launches and traffic.
// InputError for devices that the machine lacks, a profile that does not say its device on a machine of several, an op
// that two profiles time on one device, and a profile that fits no op at all.
MeasuredTimes measured_times(const PassResult& passed, const Graph& input, const Machine& machine,
                             std::span<const DeviceProfile> profiles);

// Positions of the devices that `name` means: the device called so, or all called name:0, name:1, ...; InputError with
// the nearest name if there are none.
std::vector<std::size_t> devices_meant(const Machine& machine, const std::string& name, const std::string& place);

// What was not used of each profile, with the nearest names, as sentences for people.
std::vector<std::string> profile_warnings(const MeasuredTimes& measured, const Graph& graph);

}  // namespace emplace
