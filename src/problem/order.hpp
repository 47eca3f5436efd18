// Orders of ops: by upward rank, which placers and the training loop return under `priority` and `in-order`, and by
// priority levels that a policy drew.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace {

// N values: the length of the longest path from the start of each op to the end of the step, in ticks, without waiting
// for devices or channels. Ops take their time on their device, tensors their transfer time where the devices differ.
// An op that cannot run on its device and a transfer without a route count as 0. (rank_u of Topcuoglu et al. 2002,
// section 4.1, for a given placement instead of averages.)
std::vector<Ticks> upward_ranks(const Problem& problem, std::span<const std::uint8_t> device);

// The position of each op in the order.
std::vector<std::uint32_t> positions_in(std::span<const std::uint32_t> order);

// N op ids by decreasing upward rank, ties in topological order: producers before consumers.
std::vector<std::uint32_t> upward_rank_order(const Problem& problem, std::span<const std::uint8_t> device);

// N op ids in the order in which one device would run them all, if it always took the op with the lowest of the N
// levels among those whose producers have run; ties in topological order. Producers come before consumers: an op of a
// low level waits for a producer of a higher one, which is not moved forward for it.
std::vector<std::uint32_t> level_order(const Problem& problem, std::span<const std::uint8_t> level);
// The same with N ranks in place of levels.
std::vector<std::uint32_t> ranked_order(const Problem& problem, std::span<const std::uint32_t> rank);

}  // namespace emplace
