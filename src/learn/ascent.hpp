// Gradient ascent on a policy's parameters.
#pragma once

#include <cstddef>

#include "emplace/base/state.hpp"
#include "emplace/policy/policy.hpp"
#include "nn/tape/optimizer.hpp"

namespace emplace::learn {

class Ascent {
 public:
  explicit Ascent(const nn::OptimizerOptions& options) : optimizer_(options) {}

  // One optimiser step along policy.gradient(), which is overwritten, when the share `progress` of the training's
  // budget is used. Throws what Optimizer::step() throws.
  nn::StepReport step(policy::Policy& policy, double progress);

  // The optimiser's arrays under "optimizer/".
  void save(State& state) const;
  void load(const State& state, const policy::Policy& policy);

 private:
  nn::Optimizer optimizer_;
};

}  // namespace emplace::learn
