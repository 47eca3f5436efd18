// Processes that share a training's work beside simulations: samples drawn and evaluated, and chunks of gradients, both
// from copies of the policy. The interface; over MPI in dist.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "learn/sampling.hpp"

namespace emplace::learn {

// Whatever its members compute has the bits that this process would compute alone. NotFinite of a member is thrown
// here.
class LearnerWorkers {
 public:
  virtual ~LearnerWorkers() = default;

  // sample_rollouts() of the training's policy and problems; `rollouts` is replaced.
  virtual void sample_rollouts(policy::Policy& policy, const SamplingRequest& request,
                               std::vector<policy::Rollout>& rollouts) = 0;

  // A chunk of a list of rollouts: whole samples.
  struct Chunk {
    std::size_t begin, end;     // rollouts
    double entropy_weight = 0;  // of its gradient
  };
  // Sees a chunk's log-probabilities under the policy's present parameters, each chunk once, in any order.
  using SeeLog = std::function<void(std::size_t chunk, const policy::LogProbabilities& log)>;
  virtual void forward(policy::Policy& policy, std::span<const policy::Rollout> rollouts, std::span<const Chunk> chunks,
                       const SeeLog& see) = 0;
  // The same, and says what the chunk's heads are weighed with, laid out as log.value.
  using Weigh = std::function<std::span<const double>(std::size_t chunk, const policy::LogProbabilities& log)>;
  // `total` becomes the TreeSum of what Policy::backward() adds for each chunk.
  virtual void gradient(policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                        std::span<const Chunk> chunks, const Weigh& weigh, std::span<float> total) = 0;
};

}  // namespace emplace::learn
