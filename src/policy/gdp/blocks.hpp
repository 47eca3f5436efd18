// Blocks of units that are drawn together. If units were drawn independently, the first placements would have many
// unnecessary transfers, and moving one unit would hardly change the step time. In a training each unit is drawn from
// its own probabilities with the block's random number, so log-probabilities are those of the single units. A policy
// that only places draws one decision for a block, from the mean of its units' probabilities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "nn/tape/tape.hpp"

namespace emplace::policy {

struct GdpBlocks {
  std::vector<std::uint32_t> block_of_unit;
  std::size_t count;
  std::vector<std::uint8_t> allowed;  // blocks x columns: 1 if all units of the block can run there
};

// The coarsest blocks first; in the last each unit is a block. 0: only those. `columns`: of the policy's decisions, at
// least as many as the problem has devices; the others are forbidden.
std::vector<GdpBlocks> gdp_blocks(const PolicyProblem& problem, std::size_t coarsest, std::size_t columns);

// One decision for each block, at its quantile `uniform` of the mean of its units' probabilities (N x choices), and so
// for each of its units. `allowed` is blocks x choices, or empty: all are.
void decide_by_block(const GdpBlocks& blocks, const nn::Matrix<float>& probability,
                     std::span<const std::uint8_t> allowed, std::span<const double> uniform,
                     std::span<std::uint8_t> decision);

}  // namespace emplace::policy
