// Objective `pipeline`: the load of the busiest device, which is the time per sample of a full pipeline (Tarnawski et
// al., NeurIPS 2020; docs/papers/tarnawski.md, sections 2.1 to 2.3 and 2.9).
//
// All traffic passes through host memory. Devices of kind "cpu" are hosts; communication adds nothing to their load. To
// the load of every other device is added, once per tensor and whatever the number of consumers, each tensor that it
// produces for consumers on other devices, and each tensor that it consumes from other devices: the tensor's transfer
// time on the device's route to or from the host for which that is shortest. If no device is a host, all other devices
// are treated as hosts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emplace/simulate/engine.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::simulate {

struct PhaseLoad {
  Ticks compute = 0;
  Ticks transfer = 0;
};
struct DeviceLoad {
  PhaseLoad forward, backward;
};

// Outcome::makespan is the objective's value. The memory of every device with a limit must hold the sum of resident
// bytes (the size of a node in the paper). Usage has the compute time as device_busy, and the transfers to and from
// hosts on their channels. Orders and wanted timelines are ignored. The Problem must outlive the engine.
std::unique_ptr<Engine> make_pipeline_engine(const Problem& problem, const PipelineOptions& options = {});

// D loads, one per device. Empty if the outcome has no load.
std::vector<DeviceLoad> pipeline_loads(const Problem& problem, const Placement& placement);
// One device's load in ticks, with overlap or not as `options` has it, and without separate phases.
Ticks load_of(const DeviceLoad& load, const PipelineOptions& options = {});

// The time that each tensor adds to a device's load if it is sent to or from the quickest host (section 2.9).
struct HostTransfers {
  static constexpr Ticks no_route = -1;
  bool pays = false;           // false for hosts, whose lists are empty
  std::vector<Ticks> out, in;  // T

  friend bool operator==(const HostTransfers&, const HostTransfers&) = default;
};
HostTransfers host_transfers(const Problem& problem, DeviceId device);

// Like reason_text, but for outcomes of this objective.
std::string pipeline_reason_text(const Problem& problem, const Outcome& outcome,
                                 const std::vector<std::uint8_t>& devices, const Usage& usage);
// reason_text or pipeline_reason_text, depending on the objective.
std::string reason_of(Objective objective, const Problem& problem, const Outcome& outcome,
                      const std::vector<std::uint8_t>& devices, const Usage& usage);

// The smallest device whose forward ops are not contiguous, which means that a path of forward ops leaves the device
// and enters it again (section 2.2). Nothing if all devices are contiguous.
std::optional<DeviceId> non_contiguous_device(const Problem& problem, const std::vector<std::uint8_t>& devices);

// Whether devices can be put in an order such that every edge between forward ops stays on its device or goes to a
// later one. The placements of the dynamic program over ideals have this property. It implies that every device is
// contiguous; the reverse does not hold.
bool devices_form_a_sequence(const Problem& problem, const std::vector<std::uint8_t>& devices);

}  // namespace emplace::simulate
