// The greedy split for the latency of one sample (docs/papers/tarnawski.md, section 2.7).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::search {

// N: the device of each op. Blocks, which are strongly connected classes of ops, fill one accelerator after the other
// in depth-first topological order, as far as the sum of resident bytes stays within its memory; the rest is on the CPU
// that runs it fastest, or on the accelerator with most memory left if no CPU can run it. Nothing if no device can run
// a block as a whole.
std::optional<std::vector<std::uint8_t>> greedy_latency_split(const Problem& problem);

}  // namespace emplace::search
