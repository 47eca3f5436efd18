// The units that simple placers move: co-location groups and single ops, in topological order, with their times and
// sizes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/problem/grouping.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::search {

// The memory that a unit is assumed to need. Peaks depend on the whole schedule; these are a lower and an upper
// estimate.
enum class MemoryView : std::uint8_t {
  none,      // ignored
  resident,  // bytes that are allocated for the whole step
  outputs,   // resident bytes and all outputs, as at the end of the forward pass in training
};

struct Units {
  explicit Units(const Problem& problem);

  Grouping grouping;
  std::size_t devices;
  std::vector<Ticks> time;            // U x D: sum over members; cannot_run if a member cannot run
  std::vector<Bytes> resident;        // U: including the largest scratch
  std::vector<Bytes> outputs;         // U
  std::vector<std::uint8_t> fastest;  // U: device with the least time, the first of equals

  [[nodiscard]] std::size_t count() const { return grouping.count(); }
  [[nodiscard]] Bytes memory(std::size_t unit, MemoryView view) const;
  // The wanted device, or the unit's fastest one if it cannot run on the wanted one.
  [[nodiscard]] std::uint8_t device_or_fastest(std::size_t unit, std::size_t wanted) const {
    return grouping.allows(unit, wanted) ? static_cast<std::uint8_t>(wanted) : fastest[unit];
  }
  // The placement in which each unit is on the wanted device (N) of its first op, or on its fastest one if it cannot
  // run there.
  [[nodiscard]] Placement runnable(std::span<const std::uint8_t> wanted) const;
};

// The sum of all ops' longest times.
Ticks longest_compute(const Problem& problem);

// D: for each column of a table with a row of D times for each op or unit, the first column that is equal to it.
std::vector<std::size_t> first_equal_column(std::span<const Ticks> table, std::size_t devices);

// U rows: the devices that can run the unit, ascending.
std::vector<std::vector<std::uint8_t>> device_choices(const Grouping& grouping);

// D: 1 for every device that is not a CPU, or for all devices if there are only CPUs. Baechi and the partitioners of
// the papers use these devices for a model.
std::vector<std::uint8_t> accelerators(const Problem& problem);

}  // namespace emplace::search
