// IndependentPolicy with the parameters as logits: its distributions, and samples from checkpoints that it refuses.
#include "emplace/policy/independent_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::policy::independent_policy_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class LogitsPolicy : public IndependentPolicy {
 public:
  LogitsPolicy(const PolicySetup& setup, std::size_t logits)
      : IndependentPolicy(setup, std::vector<float>(logits, 0.0F)) {}
  [[nodiscard]] std::vector<ParameterInfo> layout() const override { return {}; }

 protected:
  void logits(std::size_t, std::span<double> units_by_devices) const override {
    std::ranges::copy(values(), units_by_devices.begin());
  }
  void add_gradient(std::size_t, std::span<const double> by_logit) override {
    for (std::size_t i = 0; i < by_logit.size(); ++i) gradient()[i] += static_cast<float>(by_logit[i]);
  }
};

// Two units and two devices; the second unit can run on the second device only.
struct Trial {
  Trial() : problem(tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {no, 1}}}, {})) {
    problems.emplace_back(&problem, make_grouping(problem, GroupingKind::op));
  }
  LogitsPolicy policy() { return {PolicySetup{.problems = problems, .op_types = {}}, 4}; }
  static Rollout with(std::vector<std::uint8_t> actions) {
    Rollout rollout;
    rollout.actions = std::move(actions);
    return rollout;
  }

  Problem problem;
  std::vector<PolicyProblem> problems;
};

TEST(IndependentPolicy, DrawsFromTheSoftmaxOfTheLogitsOverTheDevicesThatCanRunTheUnit) {
  Trial trial;
  LogitsPolicy policy = trial.policy();
  policy.parameters()[0] = std::log(3.0F);
  LogProbabilities log;
  const Rollout rollout = Trial::with({0, 1});
  policy.forward({&rollout, 1}, log);
  ASSERT_EQ(log.value.size(), 2U);
  EXPECT_NEAR(log.value[0], std::log(0.75), 1e-7);
  EXPECT_EQ(log.value[1], 0);
  EXPECT_NEAR(log.entropy[0], -0.75 * std::log(0.75) - 0.25 * std::log(0.25), 1e-7);
}

TEST(IndependentPolicy, RefusesASampleWhoseUnitIsOnADeviceThatCannotRunIt) {
  Trial trial;
  const LogitsPolicy policy = trial.policy();
  const Rollout possible = Trial::with({1, 1}), impossible = Trial::with({1, 0});
  EXPECT_NO_THROW(policy.check({&possible, 1}));
  EXPECT_THAT(
      [&] {
        policy.check({&impossible, 1});
      },
      ThrowsMessage<InputError>(HasSubstr("a sample puts unit 1 on device 0, which cannot run it")));
}

TEST(IndependentPolicy, PutsAUnitThatNoDeviceCanRunOnTheFirst) {
  Trial trial;
  std::ranges::fill(std::span(trial.problems[0].grouping.allowed).subspan(2), std::uint8_t{0});
  const LogitsPolicy policy = trial.policy();
  for (std::uint32_t sample = 0; sample < 8; ++sample) {
    Rollout rollout;
    Stream stream({.seed = 1, .purpose = Purpose::sample_placement, .index = sample});
    const SampleSlot slot{&stream, {&rollout, 1}};
    policy.sample({&slot, 1});
    EXPECT_EQ(rollout.actions.at(1), 0);
  }
}

}  // namespace
}  // namespace emplace::policy::independent_policy_test
