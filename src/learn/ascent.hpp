// Steps of a policy's parameters up its gradient.
#pragma once

#include <cstddef>

#include "emplace/base/state.hpp"
#include "emplace/nn/optimizer.hpp"
#include "emplace/policy/policy.hpp"

namespace emplace {

class Ascent {
 public:
  explicit Ascent(const nn::OptimizerOptions& options) : optimizer_(options) {}

  // One step up policy.gradient(), which is used up. Errors as in Optimizer::step().
  nn::StepReport step(Policy& policy);

  // The optimiser's arrays under "optimizer/".
  void save(State& state) const;
  void load(const State& state, const Policy& policy);

 private:
  nn::Optimizer optimizer_;
};

}  // namespace emplace
