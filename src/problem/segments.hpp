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

// The number of each op's segment, from 0 on without gaps; every dependence is within a segment or goes to one with a
// larger number. Each device runs its ops in one order: that of `rank` where dependences allow it (ops of one rank in
// the order of their numbers), or if it is empty one in which no op delays another device that needs a result. A
// segment runs as a whole: one begins with an op that waits for more of another device than the segment before, and one
// ends with an op of which another device reads, so that nothing waits longer than if ops were run one by one. In the
// list, all dependences of which an op is `after` must come before those of which it is `before`.
std::vector<std::uint32_t> segment_of_op(std::span<const Dependence> dependences,
                                         std::span<const std::uint32_t> device_of_op,
                                         std::span<const std::uint32_t> rank = {});

// The number of segments of the problem's forward ops.
std::size_t count_forward_segments(const Problem& problem, const Placement& placement);

}  // namespace emplace
