// Lists of rollouts as lists of samples.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace::learn {

// Samples + 1: the rounds of sample s are rollouts[begin[s]] .. rollouts[begin[s + 1]].
std::vector<std::size_t> sample_begins(std::span<const policy::Rollout> rollouts);

// The number of different problems among the rollouts.
std::size_t problem_count(std::span<const policy::Rollout> rollouts);

// A copy of what forward() needs of a rollout, without placement, outcome and start times.
policy::Rollout decisions_of(const policy::Rollout& rollout);

}  // namespace emplace::learn
