// A base class for policies that draw the device of each unit independently of the other units, from a softmax over the
// devices that can run the unit (if none can, the first device is chosen). A derived class implements only the logits
// as a function of its parameters, and the gradient of the parameters given the gradient of the logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace::policy {

class IndependentPolicy : public Policy {
 public:
  [[nodiscard]] MemoryNeed memory_need(std::uint32_t problem, std::size_t drawn, std::size_t chunk) const override;
  void sample(std::span<const SampleSlot> slots) const final;
  void check(std::span<const Rollout> rounds) const final;
  [[nodiscard]] std::vector<std::uint32_t> expressible_units(std::span<const Rollout> rounds) const final;
  void express(std::span<Rollout> rounds, const Placement& placement) const final;
  void forward(std::span<const Rollout> rollouts, LogProbabilities& log) final;
  void backward(std::span<const Rollout> rollouts, std::span<const double> coefficients, double entropy_weight) final;
  [[nodiscard]] bool independent_heads() const final { return true; }
  std::span<float> parameters() final { return parameters_; }
  std::span<float> gradient() final { return gradient_; }
  // Throws InputError if a parameter is not finite.
  void parameters_changed() override;

 protected:
  // `parameters`: the initial values; their number must be parameter_count().
  IndependentPolicy(const PolicySetup& setup, std::vector<float> parameters);

  // Writes the logits of a problem for the present parameters: units x devices, row by row. Logits of devices that
  // cannot run the unit are ignored.
  virtual void logits(std::size_t problem, std::span<double> units_by_devices) const = 0;
  // Adds the derivatives with respect to the parameters to gradient(). `by_logit` (units x devices): the derivatives of
  // the sum that backward() differentiates with respect to the problem's logits; 0 for devices that cannot run the
  // unit.
  virtual void add_gradient(std::size_t problem, std::span<const double> by_logit) = 0;

  // The present parameters.
  [[nodiscard]] std::span<const float> values() const { return parameters_; }
  [[nodiscard]] const PolicyProblem& problem(std::size_t position) const { return problems_[position]; }

 private:
  // The distributions of a problem's units.
  struct Distribution {
    std::vector<double> probability;  // units x devices
    std::vector<double> entropy;      // of each unit, in nats
  };
  [[nodiscard]] std::vector<Distribution> distributions() const;
  [[nodiscard]] Distribution distribution(std::size_t problem) const;

  std::span<const PolicyProblem> problems_;
  // Of each problem: units x devices, 1 if the device can run the unit. A unit that no device can run may only be put
  // on the first device; the simulator then reports why such a placement is infeasible.
  std::vector<std::vector<std::uint8_t>> allowed_;
  std::vector<float> parameters_, gradient_;
};

}  // namespace emplace::policy
