// Steps of a policy's parameters up its gradient.
#pragma once

#include <cstddef>

#include "emplace/base/state.hpp"
#include "emplace/policy/policy.hpp"
#include "nn/tape/optimizer.hpp"

namespace emplace::learn {

class Ascent {
 public:
  explicit Ascent(const nn::OptimizerOptions& options) : optimizer_(options) {}

  // One step up policy.gradient(), which is used up. Errors as in Optimizer::step().
  nn::StepReport step(policy::Policy& policy);

  // The optimiser's arrays under "optimizer/".
  void save(State& state) const;
  void load(const State& state, const policy::Policy& policy);

 private:
  nn::Optimizer optimizer_;
};

}  // namespace emplace::learn
