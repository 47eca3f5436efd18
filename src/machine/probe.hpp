// Describes the host on which the program runs as a machine file, as far as the system tells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emplace/base/types.hpp"

namespace emplace::machine {

// Where the probe looks. Tests give a folder with files of their own.
struct ProbeSources {
  std::string root;             // in front of /proc and /sys
  std::string nvidia_smi;       // what nvidia_smi_command printed; "" if there is no such program
  double copy_bytes_per_s = 0;  // memory bandwidth that was measured; 0: not measured
  double allowed_threads = 0;   // hardware threads that this process may use at once; 0: all
  double memory_limit = 0;      // bytes that this process may use; 0: no limit
};

// Prints one line for each NVIDIA GPU; without the program it prints nothing. Ends after 10 s at the latest.
inline constexpr const char* nvidia_smi_command =
    "timeout 10 nvidia-smi --query-gpu=name,pci.bus_id,memory.total,pcie.link.gen.max,pcie.link.width.max "
    "--format=csv,noheader,nounits 2>/dev/null";

struct ProbedLink {
  double transfers_per_s = 0;  // of one lane: 16e9 for PCIe 4.0; 0: not known
  int lanes = 0;               // 0: not known
  // The data rate without the line code, which is what data sheets give; 0: not known.
  [[nodiscard]] double bytes_per_s() const;
};

struct ProbedGpu {
  std::string name;     // "NVIDIA GeForce RTX 4090", or the PCI numbers "1002:744c"
  std::string address;  // on PCI: "0000:01:00.0"
  std::optional<Bytes> memory_bytes;
  ProbedLink link;
};

struct ProbedHost {
  std::string cpu;          // model; "" if not known
  std::size_t cores = 0;    // without hyperthreads
  std::size_t threads = 0;  // hardware threads
  double hertz = 0;         // 0: not known
  std::string hertz_from;
  int f32_per_cycle = 0;  // FLOPs of one core
  std::string f32_per_cycle_from;
  std::vector<std::string> caches;  // "L2 1024K"
  std::optional<Bytes> memory_bytes;
  bool memory_limited_by_group = false;  // the limit of the control group is below the host's memory
  double copy_bytes_per_s = 0;
  std::vector<ProbedGpu> gpus;
  std::vector<std::string> left_out;  // sentences about what is not described
};

ProbedHost probe_host(const ProbeSources& sources);

// What could not be found out and was guessed, as sentences; `toml` is the machine file, in which each guess has a
// comment too. Loading the text gives a valid machine.
struct ProbedMachine {
  std::string toml;
  std::vector<std::string> guesses;
};
ProbedMachine probed_machine(const ProbedHost& host, const std::string& name);

}  // namespace emplace::machine
