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

  // One step up policy.gradient(), which is used up. NotFinite, with the parameters as they were, for a gradient or a
  // step that is not finite; InputError if a loaded state is of another number of parameters.
  nn::StepReport step(Policy& policy);

  // The optimiser's arrays under "optimizer/".
  void save(State& state) const;
  void load(const State& state);

 private:
  nn::Optimizer optimizer_;
  std::size_t loaded_ = 0;  // parameters of a loaded state; 0: any
};

}  // namespace emplace
