// A heterogeneous machine as described by a TOML file: devices with their speeds, channels, routes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/base/registry.hpp"
#include "emplace/base/types.hpp"

namespace emplace::machine {

struct MachineDevice {
  std::string name;        // "gpu:0"
  std::string kind;        // "cpu", "gpu", ...
  Bytes memory_bytes = 0;  // above zero if memory_limited
  bool memory_limited = true;
  std::map<std::string, double> peak_flops;  // FLOP/s by dtype name ("f32", "f16"); "default" for dtypes not named
  double memory_bytes_per_s = 0;             // sustained bandwidth
  double launch_overhead_s = 0;              // added to the time of every op that does work
  // All following tables are by the name of an op class, with "default" for classes not named. Shares in (0, 1]:
  std::map<std::string, double> efficiency;         // of the peak, in the limit of large ops; always has "default"
  std::map<std::string, double> memory_efficiency;  // of memory_bytes_per_s; 1 if neither class nor "default" is given
  // FLOPs or bytes at which an op reaches half of that share; 0 if neither class nor "default" is given.
  std::map<std::string, double> half_flops;
  std::map<std::string, double> half_bytes;
  // How many times faster kernels are in a run in which the runtime optimises the whole graph than op by op; 1 if
  // neither class nor "default" is given.
  std::map<std::string, double> fused_speedup;
  double overlap = 1;                    // share of arithmetic and memory traffic that overlap in time, in [0, 1]
  std::vector<std::string> unsupported;  // op types that the device cannot run
};

struct MachineChannel {
  std::string name;
  double latency_s = 0;
  double bytes_per_s = 0;
  bool contention = true;
};

struct MachineRoute {
  std::size_t from, to;               // positions in devices
  std::vector<std::size_t> channels;  // positions in channels
};

struct Machine {
  std::string name;
  std::vector<MachineDevice> devices;
  std::vector<MachineChannel> channels;
  std::vector<MachineRoute> routes;  // at most one for each ordered pair of devices
};

// Parses a machine file (the format is described in configs/machines/README.md). InputError with file and line for
// unknown devices, unknown keys, negative bandwidths, no devices, ...
Machine parse_machine(std::string_view toml, const std::string& file);

// Loads a preset ("k40x2", "laptop") or the TOML file of this path. `place` begins messages: where the name was found.
Machine load_machine(const std::string& name_or_path, const std::string& place = {});

// The presets, for `emplace list machines`; a family such as k40xN or cluster-HxG is one entry.
struct MachineEntry : EntryInfo {
  std::string example;  // a name that load_machine accepts: "k40x2"
};
std::span<const MachineEntry> machines();

// Returns the text of a machine file for the machine `name_or_path` in which the figures of one [[device]] (memory
// bandwidth, launch overhead, overlap, efficiencies, half sizes and fused speedups) are replaced by those of `device`.
// device.name selects it: "gpu" and "gpu:0" both mean the [[device]] called gpu with all its devices. The new file
// extends a preset, but repeats a file. `name` is the new machine's name. InputError as load_machine, and for an
// unknown device.
std::string refitted_machine_toml(const std::string& name_or_path, const MachineDevice& device,
                                  const std::string& name);

// The keys of the tables `efficiency` and `peak_flops` in addition to "default": the op classes and the number types of
// the folder graph, which this folder may not include (a test in tests/cost checks that the lists are equal).
std::span<const std::string> machine_op_classes();
std::span<const std::string> machine_dtypes();

}  // namespace emplace::machine
