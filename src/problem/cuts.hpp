// The limit on cuts: how many tensors a placement sends between devices (docs/simulation.md, R6).
#pragma once

#include <cstdint>

#include "emplace/problem/outcome.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace {

// Whether the tensor has a consumer on another device than its producer. `device` has the N devices of a placement.
bool is_cut(const Problem& problem, std::uint32_t tensor, const std::uint8_t* device);
// The number of such tensors.
std::uint32_t count_cuts(const Problem& problem, const std::uint8_t* device);

// Adds the reason too_many_cuts to an outcome without a reason, if the placement has more cuts than the problem allows.
void judge_cuts(const Problem& problem, const std::uint8_t* device, Outcome& outcome);
void judge_cuts(const Problem& problem, std::uint32_t cuts, Outcome& outcome);

}  // namespace emplace
