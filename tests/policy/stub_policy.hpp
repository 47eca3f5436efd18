// What a policy without parameters has in common with every other, for tests that are about its samples.
#pragma once

#include "emplace/policy/policy.hpp"

namespace emplace::testing {

class StubPolicy : public Policy {
 public:
  void check(std::span<const Rollout>) const override {}
  void forward(std::span<const Rollout>, LogProbabilities&) override {}
  void backward(std::span<const Rollout>, std::span<const double>, double) override {}
  std::span<float> parameters() override { return {}; }
  std::span<float> gradient() override { return {}; }
  [[nodiscard]] std::vector<ParameterInfo> layout() const override { return {}; }
};

}  // namespace emplace::testing
