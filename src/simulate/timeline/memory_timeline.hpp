// Memory of every device over the time of a simulated step, and what is alive at an instant (R5).
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace::simulate {

// Bytes that a device holds from `begin` until `end`.
struct Holding {
  enum class Kind : std::uint8_t {
    resident,  // of an op, for the whole step
    scratch,   // of an op, while it runs
    output,    // a tensor on its producer's device
    copy,      // a tensor that was sent there
  };
  Kind kind;
  std::uint32_t id;  // op of resident and scratch, tensor of output and copy
  DeviceId device;
  Ticks begin, end;
  Bytes bytes;
  friend bool operator==(const Holding&, const Holding&) = default;
};

// Every holding of the step that is not of 0 bytes: resident and scratch by op, then tensors by id, then copies in the
// order of Timeline::transfers. `timeline` must be that of `placement`; empty for an empty timeline.
std::vector<Holding> holdings(const Problem& problem, const Placement& placement, const Timeline& timeline);

struct DeviceMemory {
  struct Level {
    Ticks time;   // from here until the next level's time
    Bytes bytes;  // held, after everything of that instant
    friend bool operator==(const Level&, const Level&) = default;
  };
  // By time, the first at 0, each different from the one before, the last of 0 bytes.
  std::vector<Level> levels;
  Bytes peak = 0;       // equals Usage::device_peak
  Ticks peak_time = 0;  // when it is first reached
};

// One a device. Time: sorting the holdings.
std::vector<DeviceMemory> memory_timeline(const Problem& problem, const std::vector<Holding>& held);

// At most `limit` (2 or more) of the levels: the highest of each of equal stretches of time, and the last.
std::vector<DeviceMemory::Level> thinned(const std::vector<DeviceMemory::Level>& levels, std::size_t limit);

// The holdings of `device` with begin <= time < end, the largest first (ties: in the order of `held`).
std::vector<Holding> alive_at(const std::vector<Holding>& held, DeviceId device, Ticks time);

}  // namespace emplace::simulate
