// Refits to elites: in closed form where the policy has one, else by maximum likelihood step by step.
#pragma once

#include <cstddef>
#include <span>

#include "ascent.hpp"
#include "gradient.hpp"

namespace emplace {

// Policy::fit(), or `steps` steps up the mean over the elite samples of log p of all their rounds; without elites
// nothing then. Gradients of chunks are added up like those of any other objective.
void refit(Policy& policy, std::span<const Rollout> elites, ChunkedGradient& chunks, Ascent& ascent, int steps);

}  // namespace emplace
