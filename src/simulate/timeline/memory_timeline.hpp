// The memory of every device over the time of a simulated step, and the buffers that are alive at an instant (R5).
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace::simulate {

// Bytes that are allocated on a device from `begin` until `end`.
struct Holding {
  enum class Kind : std::uint8_t {
    resident,  // of an op, for the whole step
    scratch,   // of an op, while it runs
    output,    // a tensor on its producer's device
    copy,      // a tensor that was sent to the device
  };
  Kind kind;
  std::uint32_t id;  // op of resident and scratch, tensor of output and copy
  DeviceId device;
  Ticks begin, end;
  Bytes bytes;
  friend bool operator==(const Holding&, const Holding&) = default;
};

// All holdings of the step that are larger than 0 bytes: resident and scratch by op, then tensors by id, then copies in
// the order of Timeline::transfers. `timeline` must be that of `placement`; for an empty timeline the result is empty.
std::vector<Holding> holdings(const Problem& problem, const Placement& placement, const Timeline& timeline);

struct DeviceMemory {
  struct Level {
    Ticks time;   // from here until the next level's time
    Bytes bytes;  // held after all changes of that instant
    friend bool operator==(const Level&, const Level&) = default;
  };
  // Sorted by time. The first is at time 0, each differs from the one before, the last has 0 bytes.
  std::vector<Level> levels;
  Bytes peak = 0;       // equals Usage::device_peak
  Ticks peak_time = 0;  // when the peak is first reached
};

// One per device. Takes the time of sorting the holdings.
std::vector<DeviceMemory> memory_timeline(const Problem& problem, const std::vector<Holding>& held);

// At most `limit` (2 or more) of the levels: the highest of each of several equally long intervals of time, and the
// last.
std::vector<DeviceMemory::Level> thinned(const std::vector<DeviceMemory::Level>& levels, std::size_t limit);

// The holdings of `device` with begin <= time < end, the largest first (ties: in the order of `held`).
std::vector<Holding> alive_at(const std::vector<Holding>& held, DeviceId device, Ticks time);

}  // namespace emplace::simulate
