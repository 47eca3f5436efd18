// The requirements on the gradients of policies (emplace/policy/policy.hpp), checked for every entry of policies().
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "tests/policy/policy_on_trial.hpp"
#include "tests/support/allocations.hpp"

namespace emplace::policy::conformance_gradient_test {
namespace {

using namespace conformance;

class EveryPolicysGradient : public PolicyOnTrial {
 protected:
  // sum coefficient * log p + weight * sum entropy, which backward() differentiates.
  double objective(std::span<const Rollout> list, std::span<const double> coefficients, double entropy_weight) {
    LogProbabilities log;
    policy_->forward(list, log);
    double sum = 0;
    for (std::size_t i = 0; i < log.value.size(); ++i) sum += coefficients[i] * log.value[i];
    for (const double entropy : log.entropy) sum += entropy_weight * entropy;
    return sum;
  }

  // Differences of `value` by every parameter against gradient(). Parameters are floats, so the step is exact in them
  // and the error of central differences is of second order in it plus rounding of the values. At the kink of a relu
  // the slope here is between those on either side.
  template <class Value>
  void check_gradient(Value&& value, double tolerance) {
    const std::vector<float> gradient(policy_->gradient().begin(), policy_->gradient().end());
    const float step = trial().step;
    const double here = value();
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      float& parameter = policy_->parameters()[i];
      if (!std::isfinite(parameter)) {
        EXPECT_EQ(gradient[i], 0) << "parameter " << i << " is not finite and must not move";
        continue;
      }
      const float before = parameter;
      parameter = before + step;
      const double above = value();
      const double width_above = static_cast<double>(parameter) - before;
      parameter = before - step;
      const double below = value();
      const double width_below = static_cast<double>(before) - parameter;
      parameter = before;
      const double close = tolerance * std::max(1.0F, std::abs(gradient[i]));
      if (std::abs(gradient[i] - (above - below) / (width_above + width_below)) <= close) continue;
      const auto [least, most] = std::minmax({(above - here) / width_above, (here - below) / width_below});
      EXPECT_GE(gradient[i], least - close) << "parameter " << i;
      EXPECT_LE(gradient[i], most + close) << "parameter " << i;
    }
  }
  void clear_gradient() { std::fill(policy_->gradient().begin(), policy_->gradient().end(), 0.0f); }
};

TEST_P(EveryPolicysGradient, HasTheGradientOfItsLogProbabilities) {
  perturb();
  const auto list = rollouts(4);
  LogProbabilities log;
  policy_->forward(list, log);
  Stream random{{.seed = 17}};
  std::vector<double> coefficients;
  for (std::size_t i = 0; i < log.value.size(); ++i) coefficients.push_back(2 * random.uniform() - 1);
  clear_gradient();
  policy_->backward(list, coefficients, 0);
  check_gradient([&] { return objective(list, coefficients, 0); }, 2e-3);
}

TEST_P(EveryPolicysGradient, HasTheGradientOfItsEntropy) {
  perturb();
  const auto list = rollouts(2);
  LogProbabilities log;
  policy_->forward(list, log);
  const std::vector<double> none(log.value.size(), 0.0);
  clear_gradient();
  policy_->backward(list, none, 0.7);
  check_gradient([&] { return objective(list, none, 0.7); }, 2e-3);
}

TEST_P(EveryPolicysGradient, AddsToTheGradientThatIsThere) {
  const auto list = rollouts(2);
  LogProbabilities log;
  policy_->forward(list, log);
  const std::vector<double> ones(log.value.size(), 1.0);
  clear_gradient();
  policy_->backward(list, ones, 0);
  const std::vector<float> once(policy_->gradient().begin(), policy_->gradient().end());
  policy_->forward(list, log);
  policy_->backward(list, ones, 0);
  float largest = 0;
  for (const float g : once) largest = std::max(largest, std::abs(g));
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(policy_->gradient()[i], 2 * once[i], 1e-5 * largest);
}

TEST_P(EveryPolicysGradient, TakesNoMoreFromTheHeapForAnotherGradientThanItsLists) {
  const auto list = rollouts(4);
  LogProbabilities log;
  std::vector<double> ones;
  std::size_t taken[4];
  for (std::size_t& each : taken) {
    const std::size_t before = test::allocations();
    policy_->forward(list, log);
    ones.resize(log.value.size(), 1.0);
    policy_->backward(list, ones, 0.1);
    each = test::allocations() - before;
  }
  EXPECT_EQ(taken[3], taken[2]);
  EXPECT_LE(taken[3], 100U);  // for lists of the batch's parts; networks compute in the memory of their tapes
}

class EveryPolicyWithExactKl : public EveryPolicysGradient {};

TEST_P(EveryPolicyWithExactKl, HasTheGradientOfItsKlDivergence) {
  policy_->mark_reference();
  EXPECT_NEAR(policy_->kl(), 0, 1e-12);
  perturb();
  EXPECT_GT(policy_->kl(), 0);
  LogProbabilities log;
  policy_->forward(rollouts(1), log);
  const auto heads = static_cast<double>(log.value.size());
  clear_gradient();
  policy_->add_kl_gradient(1.5);
  check_gradient([&] { return 1.5 * heads * policy_->kl(); }, 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicysGradient, ::testing::Range<std::size_t>(0, std::size(trials)),
                         name_of_trial);
INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicyWithExactKl,
                         ::testing::ValuesIn(trials_where([](const Policy& policy) { return policy.has_exact_kl(); })),
                         name_of_trial);

}  // namespace
}  // namespace emplace::policy::conformance_gradient_test
