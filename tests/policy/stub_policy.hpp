// The base of policies without parameters, for tests that need only their samples.
#pragma once

#include "emplace/policy/policy.hpp"

namespace emplace::test {

class StubPolicy : public policy::Policy {
 public:
  void check(std::span<const policy::Rollout>) const override {}
  void forward(std::span<const policy::Rollout>, policy::LogProbabilities&) override {}
  void backward(std::span<const policy::Rollout>, std::span<const double>, double) override {}
  std::span<float> parameters() override { return {}; }
  std::span<float> gradient() override { return {}; }
  [[nodiscard]] std::vector<ParameterInfo> layout() const override { return {}; }
};

}  // namespace emplace::test
