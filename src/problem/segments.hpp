// Segments: sets of placed ops on one device that can run as one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace {

// The op `after` needs something of the op `before`.
struct Dependence {
  std::uint32_t before, after;
};

// The number of each op's segment, from 0 on without gaps. Two ops are in one segment if they are on one device, and if
// both numbers are equal: the largest number of device changes on a path to the op, and on a path from it. So no
// segment depends on its own outputs through another device, and none delays another device that needs a part of its
// results; every dependence is within a segment or goes to one with a larger number. In the list, all dependences of
// which an op is `after` must come before those of which it is `before`. Linear time, except for the sorting.
std::vector<std::uint32_t> segment_of_op(std::span<const Dependence> dependences,
                                         std::span<const std::uint32_t> device_of_op);

// The number of segments of the problem's forward ops.
std::size_t count_forward_segments(const Problem& problem, const Placement& placement);

}  // namespace emplace
