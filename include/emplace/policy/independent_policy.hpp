// A base for policies whose units choose their devices independently of each other, each from the softmax over the
// devices that can run it. A derived policy only computes logits from its parameters, and the gradient of its
// parameters from the gradient of the logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace::policy {

class IndependentPolicy : public Policy {
 public:
  void sample(std::span<const SampleSlot> draws) const final;
  void check(std::span<const Rollout> rounds) const final;
  void forward(std::span<const Rollout> rollouts, LogProbabilities& log) final;
  void backward(std::span<const Rollout> rollouts, std::span<const double> coefficients, double entropy_weight) final;
  [[nodiscard]] bool independent_heads() const final { return true; }
  std::span<float> parameters() final { return parameters_; }
  std::span<float> gradient() final { return gradient_; }
  // InputError for a parameter that is not finite.
  void parameters_changed() override;

 protected:
  // `parameters`: the initial values, as many as layout() says.
  IndependentPolicy(const PolicySetup& setup, std::vector<float> parameters);

  // Writes the logits of a problem's units under the present parameters: units x devices, row by row. Logits of
  // devices that cannot run the unit are ignored.
  virtual void logits(std::size_t problem, std::span<double> units_by_devices) const = 0;
  // Adds to gradient() what follows from `by_logit` (units x devices), the derivatives of the learner's sum by the
  // logits of the problem; 0 for devices that cannot run the unit.
  virtual void add_gradient(std::size_t problem, std::span<const double> by_logit) = 0;

  // The present parameters.
  [[nodiscard]] std::span<const float> values() const { return parameters_; }
  [[nodiscard]] const PolicyProblem& problem(std::size_t position) const { return problems_[position]; }

 private:
  // Probabilities of a problem's units x devices, and the sum of the units' entropies in nats.
  struct Distribution {
    std::vector<double> probability;
    std::vector<double> entropy;  // per unit
  };
  [[nodiscard]] std::vector<Distribution> distributions() const;
  [[nodiscard]] Distribution distribution(std::size_t problem) const;

  std::span<const PolicyProblem> problems_;
  std::vector<float> parameters_, gradient_;
};

}  // namespace emplace::policy
