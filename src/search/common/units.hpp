// What the simple placers know of the units they move: co-location groups and single ops, in topological order.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/grouping.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::search {

// How much memory a unit is taken to need. Peaks depend on the whole schedule; these bound them from two sides.
enum class MemoryView : std::uint8_t {
  none,      // ignored
  resident,  // what stays for the whole step
  outputs,   // resident and every output at once, as at the end of a training's forward pass
};

struct Units {
  explicit Units(const Problem& problem);

  Grouping grouping;
  std::size_t devices;
  std::vector<Ticks> time;            // U x D: sum over members, cannot_run where a member cannot
  std::vector<Bytes> resident;        // U: with the largest scratch
  std::vector<Bytes> outputs;         // U
  std::vector<std::uint8_t> fastest;  // U: device of least time, ties: the first

  [[nodiscard]] std::size_t count() const { return grouping.count(); }
  [[nodiscard]] Bytes memory(std::size_t unit, MemoryView view) const;
  // The wanted device, or the fastest where the unit cannot run there.
  [[nodiscard]] std::uint8_t device_or_fastest(std::size_t unit, std::size_t wanted) const {
    return grouping.allows(unit, wanted) ? static_cast<std::uint8_t>(wanted) : fastest[unit];
  }
};

// All ops one after the other, each where it takes longest.
Ticks longest_compute(const Problem& problem);

// U rows: the devices that a unit can run on, ascending.
std::vector<std::vector<std::uint8_t>> device_choices(const Grouping& grouping);

// D: 1 for every device that is no CPU, and for all where that would leave none: what Baechi and the partitioners of
// the papers spread a model over.
std::vector<std::uint8_t> accelerators(const Problem& problem);

}  // namespace emplace::search
