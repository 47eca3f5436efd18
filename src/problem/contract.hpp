// A smaller problem with nearly the same schedules: small ops are joined with their only consumer or their only
// producer, which they would hardly ever be parted from.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace {

struct Contracted {
  Problem problem;                    // it has an op for each set of joined ops, N' of them
  std::vector<std::uint32_t> op_of;   // N: the contracted op that has each op
  std::vector<std::uint32_t> leader;  // N': of its ops, the one in a co-location group, or else that takes longest

  // Each contracted op on the device of its leader, so that co-location groups stay together; in an order that follows
  // the leaders' where the joined ops' dependences allow it.
  [[nodiscard]] Placement contract(const Placement& placement) const;
  // Each op on the device of the contracted op that has it; the ops of one are next to each other in the order.
  [[nodiscard]] Placement expand(const Problem& whole, const Placement& placement) const;
};

// Joins an op with the only op that consumes its outputs, and an op with the only op that produces its inputs, until no
// such pair is left, in 64 rounds at most. That creates no cycle: a path around the edge would have to leave the
// producer by another edge, or enter the consumer by another. Ops are not joined if the devices that can run them
// differ, if they are in two co-location groups, or if together they had more than `most_share` of the problem's work
// (the sum of each op's fastest time): a joined op starts when all its inputs are there, and its outputs are there when
// it ends. Tensors inside a joined op take no memory, so that a placement which fits the smaller problem may not fit
// the whole one. Where less than the share `least_left` of the ops would be left, `most_share` is halved, at most six
// times.
Contracted contract(const Problem& problem, double most_share, double least_left = 0);
// How many ops would be left with `most_share`.
std::size_t contracted_count(const Problem& problem, double most_share);

}  // namespace emplace
