// Refits to elites: in closed form where the policy has one, else by maximum likelihood step by step.
#pragma once

#include <cstddef>
#include <span>

#include "learn/ascent.hpp"
#include "learn/gradient.hpp"

namespace emplace::learn {

// Policy::fit(), or `steps` steps up the mean over the elite samples of log p of all their rounds; without elites
// nothing then. Gradients of chunks are added up like those of any other objective.
void refit(policy::Policy& policy, std::span<const policy::Rollout> elites, ChunkedGradient& chunks, Ascent& ascent,
           int steps);

}  // namespace emplace::learn
