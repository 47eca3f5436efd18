// Gradients in fixed chunks of samples, added in chunk order: whoever computes a chunk, the bits are the same, and a
// policy keeps what it needs for one chunk at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace {

class ChunkedGradient {
 public:
  // A run of whole samples, in the layout of the list that it is part of.
  struct Chunk {
    std::size_t first_rollout, first_head;
    std::span<const Rollout> rollouts;
    const LogProbabilities* log;  // under the present parameters
  };
  // Writes one coefficient a head, laid out as log->value; they are 0 at first.
  using Coefficients = std::function<void(const Chunk& chunk, std::span<double> coefficients)>;

  // `samples` of a chunk, with all their rounds.
  explicit ChunkedGradient(std::size_t samples);

  // policy.gradient() becomes d/dparameters of sum coefficient * log p + entropy_weight * sum entropy over all
  // rollouts, with the coefficients as constants. NotFinite for a coefficient, for a log-probability whose coefficient
  // is not 0 (an impossible action that nobody weighs is no error), for one that is not a number, for an entropy that
  // counts. `entropy_scale`, by rollout and the same for all rounds of a sample: what the weight is multiplied by, 1 if
  // empty; a chunk then ends where it changes.
  void compute(Policy& policy, std::span<const Rollout> rollouts, const Coefficients& coefficients,
               double entropy_weight, std::span<const double> entropy_scale = {});

  // Log-probabilities of all rollouts, chunk by chunk.
  void forward(Policy& policy, std::span<const Rollout> rollouts, LogProbabilities& log);

 private:
  // forward() of each chunk in turn, then `use`. Within a chunk `scale` (by rollout, or empty) does not change.
  void for_each_chunk(Policy& policy, std::span<const Rollout> rollouts, std::span<const double> scale,
                      const std::function<void(const Chunk& chunk)>& use);

  std::size_t samples_;
  LogProbabilities log_;
  std::vector<double> coefficients_;
  std::vector<double> total_;
};

// Entropy in nats, averaged over all heads; 0 without heads.
double mean_entropy(const LogProbabilities& log);

}  // namespace emplace
