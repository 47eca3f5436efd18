// Refits to elites: in closed form where the policy has one, else by gradient steps on the likelihood.
#pragma once

#include <cstddef>
#include <span>

#include "learn/ascent.hpp"
#include "learn/gradient.hpp"

namespace emplace::learn {

// Calls Policy::fit(); for a policy without it, makes `steps` gradient steps that increase the mean over the elite
// samples of log p of all their rounds, or none without elites. `progress`: see Ascent::step().
void refit(policy::Policy& policy, std::span<const policy::Rollout> elites, ChunkedGradient& chunks, Ascent& ascent,
           double progress, int steps);

}  // namespace emplace::learn
