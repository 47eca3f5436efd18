// Gradients in fixed chunks of samples, added in a fixed tree: whoever computes a chunk, the bits are the same, and a
// policy keeps what it needs for one chunk at a time.
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
  // A run of whole samples, in the layout of the list that it is part of.
  struct Chunk {
    std::size_t first_rollout;
    std::span<const policy::Rollout> rollouts;
    const policy::LogProbabilities* log;  // under the present parameters
  };
  // Writes one coefficient a head, laid out as log->value; they are 0 at first. Called once a chunk, in any order.
  using Coefficients = std::function<void(const Chunk& chunk, std::span<double> coefficients)>;

  // `samples` of a chunk, with all their rounds.
  explicit ChunkedGradient(std::size_t samples);

  // Who computes chunks from now on; null: this process. It must know the policy that is given below.
  void use(LearnerWorkers* learner_workers) { learner_workers_ = learner_workers; }

  // policy.gradient() becomes d/dparameters of sum coefficient * log p + entropy_weight * sum entropy over all
  // rollouts, with the coefficients as constants. NotFinite for a coefficient, for a log-probability whose coefficient
  // is not 0 (an impossible action that nobody weighs is no error), for one that is not a number, for an entropy that
  // counts. `entropy_scale`, by rollout and the same for all rounds of a sample: what the weight is multiplied by, 1 if
  // empty; a chunk then ends where it changes. Returns the rollouts' log-probabilities, valid until the next call.
  const policy::LogProbabilities& compute(policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                                          const Coefficients& coefficients, double entropy_weight,
                                          std::span<const double> entropy_scale = {});

  // Log-probabilities of all rollouts, chunk by chunk.
  void forward(policy::Policy& policy, std::span<const policy::Rollout> rollouts, policy::LogProbabilities& log);
  // The same of one chunk a call, in this process, which the next forward() of the same rollouts under the same
  // parameters does not compute again; false: there is none left.
  bool prepare_forward(policy::Policy& policy, std::span<const policy::Rollout> rollouts);

 private:
  // The chunks of the rollouts. Within one, `scale` (by rollout, or empty) does not change.
  [[nodiscard]] std::vector<LearnerWorkers::Chunk> chunks_of(std::span<const policy::Rollout> rollouts,
                                                             double entropy_weight,
                                                             std::span<const double> scale) const;
  // One chunk gains nothing from others. A policy with closed forms costs less than messages, and reads what its own
  // last forward() left behind.
  [[nodiscard]] bool shares(const policy::Policy& policy, std::span<const LearnerWorkers::Chunk> chunks) const {
    return learner_workers_ != nullptr && chunks.size() > 1 && !policy.has_exact_kl();
  }
  // Puts the log-probabilities of one chunk behind those of the chunks before it.
  void forward_here(policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                    const LearnerWorkers::Chunk& chunk, policy::LogProbabilities& log);
  // As LearnerWorkers does, in this process.
  void gradient_here(policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                     std::span<const LearnerWorkers::Chunk> chunks, const LearnerWorkers::Weigh& weigh);

  std::size_t samples_;
  LearnerWorkers* learner_workers_ = nullptr;
  policy::LogProbabilities part_;               // of one chunk, computed here
  std::vector<policy::LogProbabilities> logs_;  // by chunk
  policy::LogProbabilities log_;
  std::vector<double> coefficients_;
  std::vector<LearnerWorkers::Chunk>
      to_prepare_;            // by prepare_forward(); none: it was not called for the next forward()
  std::size_t prepared_ = 0;  // of them, one after the other in
  policy::LogProbabilities prepared_log_;
};

// Rollout i of `from`, or all of them, behind the others.
void append(policy::LogProbabilities& to, const policy::LogProbabilities& from, std::size_t i);
void append(policy::LogProbabilities& to, const policy::LogProbabilities& from);

// Entropy in nats, averaged over all heads; 0 without heads.
double mean_entropy(const policy::LogProbabilities& log);

}  // namespace emplace::learn
