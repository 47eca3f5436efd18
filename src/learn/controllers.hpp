// The interface to asynchronous controllers: other processes that draw and evaluate batches of samples and compute
// their gradients, each at its own speed. dist implements it with MPI.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emplace/base/state.hpp"
#include "learn/asynchronous_learner.hpp"
#include "learn/sampling.hpp"

namespace emplace::learn {

// What a controller made of a batch.
struct Contribution {
  std::size_t controller = 0;
  std::vector<policy::Rollout> rollouts;  // without starts
  GradientReport report;
  std::vector<float> gradient;  // of every parameter; empty if no sample was used
  State state;                  // AsynchronousLearner::save_controller() after the batch
};

class Controllers {
 public:
  virtual ~Controllers() = default;

  [[nodiscard]] virtual std::size_t count() const = 0;
  // Gives a controller without a batch the next one: what to draw, its own state, and the parameters. Never waits.
  virtual void give(std::size_t controller, const SamplingRequest& request, const State& state,
                    std::span<const float> parameters) = 0;
  // Waits for the next contribution of a controller that has a batch. Throws Interrupted where a stop is due
  // (base/interrupt.hpp), a controller's NotFinite, and the failure of its rank.
  virtual Contribution next() = 0;
  // Stops the batches under way and drops them. give() may be called again.
  virtual void end() = 0;
};

}  // namespace emplace::learn
