// What joint_times.hpp needs to know of the devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::search {

// Which transfers from the others into a device, or from it to the others, are made one after the other (R3).
struct Turns {
  // D: 0 for the devices whose routes share one channel with contention, that which most of them share; 1 for all if
  // there are several routes and no two share one.
  std::vector<std::uint8_t> beside;
  bool of_pair = true;  // two transfers on one route, whichever it is
};
std::vector<Turns> turns_of(const Problem& problem, bool into);

// Devices that can be exchanged without changing any time, or which transfers take turns: for each device the first one
// like it.
std::vector<std::size_t> alike_devices(const Problem& problem, const std::vector<std::uint8_t>& possible,
                                       const std::vector<Turns>& in, const std::vector<Turns>& out);

// What all devices but d get done of ops' least times there, in units of JointRegion::speed_unit: a device's speed is
// the largest, over all ops, of the least time on a device other than d divided by the time on this one; rounded up.
std::int64_t speed_elsewhere(const Problem& problem, const std::vector<std::uint8_t>& possible, std::size_t d);

}  // namespace emplace::search
