// Descent from a split of a pipeline to one that no single move improves (docs/papers/tarnawski.md, section 2.8).
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "search/common/deadline.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::search {

// Repeatedly makes the best move of a co-location group to another device, until no move helps or the time is over. A
// move is better if the load of the busiest device is smaller, then if the sum of the squares of all loads is.
// `devices` (N) must be feasible; it stays feasible, but not necessarily contiguous. Returns the load.
Ticks descend(const Problem& problem, const simulate::PipelineOptions& options, std::vector<std::uint8_t>& devices,
              const Deadline& deadline);

}  // namespace emplace::search
