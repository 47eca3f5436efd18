// Descent from a split of a pipeline to one that no single move improves (docs/papers/tarnawski.md, section 2.8).
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "emplace/simulate/pipeline.hpp"
#include "search/common/deadline.hpp"

namespace emplace::search {

// Moves the co-location group whose move to another device helps most, until none helps or the time is over: a smaller
// load of the busiest device, then a smaller sum of the squares of all loads. `devices` (N) must be feasible; it stays
// so, but need not stay contiguous. Returns the load.
Ticks descend(const Problem& problem, const simulate::PipelineOptions& options, std::vector<std::uint8_t>& devices,
              const Deadline& deadline);

}  // namespace emplace::search
