// The proximal objectives: probability ratios to the policy at sampling time, weighted by advantages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace {

enum class RatioKind : std::uint8_t { per_head, joint };

// With r = p / p_old, of each head or (joint) of all heads of a rollout together:
//   plain: sum_n sum_h r_nh A_n
//   clip:  sum_n sum_h min(r_nh A_n, clamp(r_nh, 1 - c, 1 + c) A_n)
// Advantages come with their divisor. A clipped term has no gradient; another's is r A times that of log p.
class Surrogate {
 public:
  // `clip` of 0: the plain form. Takes p_old from the policy's present parameters. The rollouts must outlive this.
  Surrogate(Policy& policy, std::span<const Rollout> rollouts, std::span<const double> advantages, RatioKind ratio,
            double clip);

  // Adds the objective's gradient at the present parameters to policy.gradient().
  void add_gradient(Policy& policy);

 private:
  void merge_equal_terms(std::span<const Rollout> rollouts, std::span<const double> advantages);
  [[nodiscard]] double slope(double ratio, double plus, double minus) const;

  RatioKind ratio_;
  double clip_;
  std::vector<Rollout> merged_;       // see merge_equal_terms
  std::span<const Rollout> terms_;    // the rollouts or merged_
  LogProbabilities old_, now_;        // of terms_
  std::vector<double> plus_, minus_;  // advantages above and below zero, by term and head
  std::vector<double> coefficients_;
};

}  // namespace emplace
