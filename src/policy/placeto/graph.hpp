// The graph of units as Placeto reads it (Addanki et al. 2019; docs/papers/placeto.md, sections 2.1 to 2.3):
// neighbours, what lies before and after each unit, the order of visits, and the state of an episode as features.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace::policy {

// A unit's relatives are kept for each unit, so there must not be too many of them.
inline constexpr std::size_t placeto_most_units = 4096;

// U units. Lists have one row a unit and hold units, ascending.
struct PlacetoGraph {
  // Units that a tensor runs from, to, earlier ones and later ones. Units may depend on each other in cycles (a
  // variable and its update, placed as one, and the step between them): edges back to an earlier unit are left out.
  Lists parents, children;
  Lists ancestors, descendants, rest;  // with the unit itself they are all units, each once
  std::vector<float> cost;             // U: mean time over the devices that can run the unit, largest 1
  std::vector<float> bytes;            // U: of all outputs of the members, largest 1
  std::vector<float> memory;           // U: resident bytes, largest 1
  std::vector<std::uint32_t> order;    // U units in the order of visits

  [[nodiscard]] std::size_t count() const { return order.size(); }
};

// `random_order`: one fixed order drawn from the stream instead of the order of the units. InputError for too many
// units.
PlacetoGraph placeto_graph(const PolicyProblem& problem, bool random_order, Stream stream);

// U: the start of each unit (its first op) less that of `current`, divided by the largest absolute value; zeros without
// times. `starts` as in Rollout.
void read_unit_starts(const Grouping& grouping, std::span<const Ticks> starts, std::uint32_t current,
                      std::vector<float>& relative);

// 5 + D columns, and one more with memory.
inline std::size_t placeto_features(std::size_t devices, bool with_memory) {
  return 5 + devices + (with_memory ? 1 : 0);
}

// U x features: cost, output bytes, done, current, start time, (memory), one-hot device. `step` 0 places order[0];
// units visited before it are done. A device of `no_device` has no one-hot.
inline constexpr std::uint8_t no_device = 255;
void write_placeto_state(const PlacetoGraph& graph, std::size_t devices, bool with_memory, std::size_t step,
                         std::span<const std::uint8_t> device_of_unit, std::span<const float> relative_starts,
                         std::span<float> state);

}  // namespace emplace::policy
