// The common part of policies with a network: the flat vectors of parameters and gradient, and their names.
#pragma once

#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "nn/tape/parameters.hpp"
#include "nn/tape/tape.hpp"

namespace emplace::policy {

class NetworkPolicy : public Policy {
 public:
  std::span<float> parameters() override { return parameters_; }
  std::span<float> gradient() override { return gradient_; }
  // Throws InputError, naming the first slice with a value that is not finite.
  void parameters_changed() override;
  [[nodiscard]] std::vector<ParameterInfo> layout() const override;

 protected:
  // Allocates the layout's parameters and their gradient, all 0.
  void use(const nn::ParameterLayout& layout);

  std::vector<float> parameters_, gradient_;

 private:
  std::vector<nn::ParameterLayout::Info> slices_;
};

// Throws NotFinite if a logit is not finite: the parameters have diverged.
void require_finite(std::span<const float> logits);

// Returns the problems' common number of devices. Throws InputError, naming two problems with different numbers.
std::size_t common_device_count(std::span<const PolicyProblem> problems, std::string_view policy);
// The same for units, for networks whose input has a column for each unit. InputError also above 8192 units, because
// memory grows with their square.
std::size_t common_unit_count(std::span<const PolicyProblem> problems, std::string_view policy);

}  // namespace emplace::policy
