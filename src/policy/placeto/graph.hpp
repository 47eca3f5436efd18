// The graph of units as Placeto reads it (Addanki et al. 2019; docs/papers/placeto.md, sections 2.1 to 2.3):
// neighbours, ancestors and descendants of each unit, the order of visits, and the state of an episode as features.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace::policy {

// The limit of units: the lists of ancestors, descendants and other units need memory that grows with its square.
inline constexpr std::size_t placeto_most_units = 4096;

// U units. Lists have one row a unit and hold units, ascending.
struct PlacetoGraph {
  // Units whose tensors a unit reads, and units that read its tensors. Units may depend on each other in cycles (for
  // example a variable and its update, placed as one unit, and the step between them): edges to an earlier unit are
  // left out.
  Lists parents, children;
  Lists ancestors, descendants, rest;  // with the unit itself these are all units, each once
  std::vector<float> cost;             // U: mean time over the devices that can run the unit, largest 1
  std::vector<float> bytes;            // U: of all outputs of the members, largest 1
  std::vector<float> memory;           // U: resident bytes, largest 1
  std::vector<std::uint32_t> order;    // U units in the order of visits

  [[nodiscard]] std::size_t count() const { return order.size(); }
};

// `random_order`: visits are in one fixed order drawn from the stream, instead of the units' order. Throws InputError
// for too many units.
PlacetoGraph placeto_graph(const PolicyProblem& problem, bool random_order, Stream stream);

// U: the start time of each unit (its first op) minus that of `current`, divided by the largest absolute value; zeros
// if `starts` (as in Rollout) is empty.
void read_unit_starts(const Grouping& grouping, std::span<const Ticks> starts, std::uint32_t current,
                      std::vector<float>& relative);

// 5 + D columns, and one more with memory.
inline std::size_t placeto_features(std::size_t devices, bool with_memory) {
  return 5 + devices + (with_memory ? 1 : 0);
}

// U x features: cost, output bytes, done, current, start time, (memory), one-hot device. `step` 0 places order[0];
// units visited earlier are done. The one-hot columns of a unit on `no_device` are 0.
inline constexpr std::uint8_t no_device = 255;
void write_placeto_state(const PlacetoGraph& graph, std::size_t devices, bool with_memory, std::size_t step,
                         std::span<const std::uint8_t> device_of_unit, std::span<const float> relative_starts,
                         std::span<float> state);

}  // namespace emplace::policy
