// Gradients computed in fixed chunks of samples and added in a fixed tree. The result has the same bits whichever
// process computes a chunk, and a policy needs memory for only one chunk at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "learn/learner_workers.hpp"

namespace emplace::learn {

class ChunkedGradient {
 public:
  // A range of whole samples of a list of rollouts.
  struct Chunk {
    std::size_t first_rollout;
    std::span<const policy::Rollout> rollouts;
    const policy::LogProbabilities* log;  // under the present parameters
  };
  // Writes one coefficient for each head, in the layout of log->value; they are 0 at first. Called once for each chunk,
  // in any order.
  using Coefficients = std::function<void(const Chunk& chunk, std::span<double> coefficients)>;

  // `samples`: the number of samples in a chunk, with all their rounds.
  explicit ChunkedGradient(std::size_t samples);

  [[nodiscard]] std::size_t samples() const { return samples_; }
  // Sets the processes that compute chunks from now on; null: this process. They must have a copy of the policy that is
  // passed below.
  void use(LearnerWorkers* learner_workers) { learner_workers_ = learner_workers; }

  // policy.gradient() becomes d/dparameters of sum coefficient * log p + entropy_weight * sum entropy over all
  // rollouts, with the coefficients as constants. Throws NotFinite for a coefficient or a log-probability that is not
  // finite (-infinity for an impossible action with coefficient 0 is allowed), and for an entropy that is not finite if
  // its weight is not 0. `entropy_scale` (by rollout, the same for all rounds of a sample; empty: 1) multiplies the
  // entropy weight; chunks then also end where it changes. Returns the rollouts' log-probabilities, valid until the
  // next call.
  const policy::LogProbabilities& compute(policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                                          const Coefficients& coefficients, double entropy_weight,
                                          std::span<const double> entropy_scale = {});

  // Log-probabilities of all rollouts, chunk by chunk.
  void forward(policy::Policy& policy, std::span<const policy::Rollout> rollouts, policy::LogProbabilities& log);
  // Computes one chunk of the next forward() in advance, in this process; that forward() must have the same rollouts
  // and parameters. Returns false if no chunk is left.
  bool prepare_forward(policy::Policy& policy, std::span<const policy::Rollout> rollouts);

 private:
  // The chunks of the rollouts. Within one, `scale` (by rollout, or empty) does not change.
  [[nodiscard]] std::vector<LearnerWorkers::Chunk> chunks_of(std::span<const policy::Rollout> rollouts,
                                                             double entropy_weight,
                                                             std::span<const double> scale) const;
  // Whether other processes compute the chunks. This is of no use for a single chunk, nor for a policy with closed
  // forms, which costs less than the messages and needs what its own last forward() stored.
  [[nodiscard]] bool shares(const policy::Policy& policy, std::span<const LearnerWorkers::Chunk> chunks) const {
    return learner_workers_ != nullptr && chunks.size() > 1 && !policy.has_exact_kl();
  }
  // Computes the log-probabilities of one chunk and appends them to `log`.
  void forward_here(policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                    const LearnerWorkers::Chunk& chunk, policy::LogProbabilities& log);
  // Does the same as LearnerWorkers::gradient(), in this process.
  void gradient_here(policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                     std::span<const LearnerWorkers::Chunk> chunks, const LearnerWorkers::Weigh& weigh);

  std::size_t samples_;
  LearnerWorkers* learner_workers_ = nullptr;
  policy::LogProbabilities part_;               // of one chunk, computed here
  std::vector<policy::LogProbabilities> logs_;  // by chunk
  policy::LogProbabilities log_;
  std::vector<double> coefficients_;
  std::vector<LearnerWorkers::Chunk> to_prepare_;  // of prepare_forward(); empty: not called for the next forward()
  std::size_t prepared_ = 0;                       // how many of them are done, in
  policy::LogProbabilities prepared_log_;
};

// Appends rollout i of `from`, or all its rollouts.
void append(policy::LogProbabilities& to, const policy::LogProbabilities& from, std::size_t i);
void append(policy::LogProbabilities& to, const policy::LogProbabilities& from);

// Entropy in nats, averaged over all heads; 0 without heads.
double mean_entropy(const policy::LogProbabilities& log);

}  // namespace emplace::learn
