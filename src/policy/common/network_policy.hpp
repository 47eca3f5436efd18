// What policies with a network share: the flat vectors of parameters and gradient, and their names.
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
  // InputError naming the first slice that holds a value that is not finite.
  void parameters_changed() override;
  [[nodiscard]] std::vector<ParameterInfo> layout() const override;

 protected:
  // As many parameters as the layout has, all 0.
  void use(const nn::ParameterLayout& layout);

  std::vector<float> parameters_, gradient_;

 private:
  std::vector<nn::ParameterLayout::Info> slices_;
};

// NotFinite where a value is not finite: parameters have grown beyond all bounds.
void require_finite(std::span<const float> logits);

// InputError naming both, where two problems have different numbers of devices; the common number.
std::size_t common_device_count(std::span<const PolicyProblem> problems, std::string_view policy);
// The same for units, of a network whose input has one column a unit: at most 8192, as memory grows with their square.
std::size_t common_unit_count(std::span<const PolicyProblem> problems, std::string_view policy);

}  // namespace emplace::policy
