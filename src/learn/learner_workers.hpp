// The interface to processes that share the work of a training: they draw and evaluate samples, and compute chunks of
// gradients, with copies of the policy. dist implements it with MPI.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "learn/sampling.hpp"

namespace emplace::learn {

// All results have the same bits as if this process computed them alone. A NotFinite in another process is thrown in
// this one.
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
  // Receives a chunk's log-probabilities under the policy's present parameters. Called once for each chunk, in any
  // order.
  using SeeLog = std::function<void(std::size_t chunk, const policy::LogProbabilities& log)>;
  virtual void forward(policy::Policy& policy, std::span<const policy::Rollout> rollouts, std::span<const Chunk> chunks,
                       const SeeLog& see) = 0;
  // The same, and returns the coefficients of the chunk's heads in the layout of log.value.
  using Weigh = std::function<std::span<const double>(std::size_t chunk, const policy::LogProbabilities& log)>;
  // `total` becomes the TreeSum of what Policy::backward() adds for each chunk.
  virtual void gradient(policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                        std::span<const Chunk> chunks, const Weigh& weigh, std::span<float> total) = 0;
};

}  // namespace emplace::learn
