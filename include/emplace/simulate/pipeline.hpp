// Objective `pipeline`: the load of the busiest device, which is the time per sample of a full pipeline (Tarnawski et
// al., NeurIPS 2020; docs/papers/tarnawski.md, sections 2.1 to 2.3 and 2.9).
//
// All traffic passes through host memory. Devices of kind "cpu" are hosts and pay no communication. Every other device
// pays each tensor that it produces for consumers elsewhere once, and each tensor that it consumes from elsewhere once,
// however many consumers there are: the tensor's time on the device's route to or from a host, the quickest of several
// hosts. Where no device is a host, the other devices take their place.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emplace/simulate/engine.hpp"

namespace emplace::simulate {

struct PipelineOptions {
  // A device computes and transfers at once: the larger of the two is its load, not the sum.
  bool overlap = false;
  // Training: all forwards, then all backwards (the `diffmaxima` of section 2.3): the largest forward load plus the
  // largest backward load, in place of the largest sum. A tensor counts where its producer does.
  bool separate_phases = false;
};

struct PhaseLoad {
  Ticks compute = 0;
  Ticks transfer = 0;
};
struct DeviceLoad {
  PhaseLoad forward, backward;
};

// Outcome::makespan is the objective's value. Memory is the sum of resident bytes (the size of a node in the paper), on
// every device with a limit; usage holds compute as device_busy and the transfers to and from hosts on their channels;
// orders and wanted timelines are ignored. The Problem must outlive the engine.
std::unique_ptr<Engine> make_pipeline_engine(const Problem& problem, const PipelineOptions& options = {});

// D: what each device pays for. Empty where the outcome has no load.
std::vector<DeviceLoad> pipeline_loads(const Problem& problem, const Placement& placement);
// One device's load by `options`, without separate phases.
Ticks load_of(const DeviceLoad& load, const PipelineOptions& options = {});

// What a device pays for each tensor that it sends to or takes from a host (section 2.9), by the quickest host.
struct HostTransfers {
  static constexpr Ticks no_route = -1;
  bool pays = false;           // false for hosts, whose lists are empty
  std::vector<Ticks> out, in;  // T

  friend bool operator==(const HostTransfers&, const HostTransfers&) = default;
};
HostTransfers host_transfers(const Problem& problem, DeviceId device);

// Like reason_text, for outcomes of this objective.
std::string pipeline_reason_text(const Problem& problem, const Outcome& outcome,
                                 const std::vector<std::uint8_t>& devices, const Usage& usage);
// One of the two.
std::string reason_of(Objective objective, const Problem& problem, const Outcome& outcome,
                      const std::vector<std::uint8_t>& devices, const Usage& usage);

// The smallest device whose forward ops are not contiguous: a path of forward ops leaves them and enters again (section
// 2.2). Nothing if all are.
std::optional<DeviceId> non_contiguous_device(const Problem& problem, const std::vector<std::uint8_t>& devices);

// Whether devices can be put in an order such that every edge between forward ops stays on its device or goes to a
// later one: what the dynamic program over ideals returns. It implies that every device is contiguous, not the reverse.
bool devices_form_a_sequence(const Problem& problem, const std::vector<std::uint8_t>& devices);

}  // namespace emplace::simulate
