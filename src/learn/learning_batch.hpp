// The samples that gradients are computed from: the used samples of a batch, and minibatches of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emplace/base/random.hpp"
#include "emplace/policy/policy.hpp"
#include "learn/advantages.hpp"

namespace emplace::learn {

struct LearningBatch {
  std::vector<policy::Rollout> copies;        // decisions only; empty if `rollouts` views another list
  std::span<const policy::Rollout> rollouts;  // sample by sample
  std::vector<std::size_t> begins;            // samples + 1
  std::vector<double> advantages;             // by rollout
  policy::LogProbabilities old;               // of the rollouts before the update; set if needed

  LearningBatch() = default;
  LearningBatch(LearningBatch&&) = default;  // a copy's `rollouts` would point into the original
  LearningBatch& operator=(LearningBatch&&) = default;

  [[nodiscard]] std::size_t samples() const { return begins.empty() ? 0 : begins.size() - 1; }
};

// The used samples, without `old`. If all samples are used, the batch views `rollouts` instead of copying them.
LearningBatch used_samples(std::span<const policy::Rollout> rollouts, const AdvantageBatch& advantages);

// Sets the batch's `old` from the log-probabilities of all rollouts that the batch was made from.
void take_old(LearningBatch& batch, policy::LogProbabilities all, const AdvantageBatch& advantages);

// These samples of the batch, in this order, with their `old`.
LearningBatch select(const LearningBatch& batch, std::span<const std::size_t> samples);

// One pass over `samples` samples in `parts` minibatches, whose sizes differ by one at most; every sample once. One
// part is in order, several are shuffled.
std::vector<std::vector<std::size_t>> minibatches(std::size_t samples, std::size_t parts, const StreamKey& key);

}  // namespace emplace::learn
