#include "learn/likelihood.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/learn/training.hpp"

namespace emplace::learn::likelihood_test {
namespace {

using namespace test;

struct TwoOps {
  Problem problem = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}}, {{0, 1}});
  std::vector<policy::PolicyProblem> list = {{&problem, make_grouping(problem, GroupingKind::op)}};
  ChunkedGradient chunks{2};
  Ascent ascent{{.optimizer = "adam", .learning_rate = 0.05, .clip_norm = 0}};

  [[nodiscard]] static double probability(policy::Policy& policy, std::vector<std::uint8_t> actions) {
    const policy::Rollout rollout = timed(std::move(actions), 1);
    policy::LogProbabilities log;
    policy.forward({&rollout, 1}, log);
    double sum = 0;
    for (const double value : log.value) sum += value;
    return std::exp(sum);
  }
};

TEST(Refit, ByGradientEndsAtTheElitesFrequencies) {
  // Elites 01, 01, 00, 11: op a is on 0 in 3 of 4; then b is on 1 in 2 of 3; after a on 1 always.
  TwoOps two;
  ChainPolicy policy(two.list);
  const std::vector<policy::Rollout> elites = {timed({0, 1}, 1), timed({0, 1}, 1), timed({0, 0}, 1), timed({1, 1}, 1)};
  refit(policy, elites, two.chunks, two.ascent, 0, 3000);
  EXPECT_NEAR(two.probability(policy, {0, 1}), 0.5, 0.01);
  EXPECT_NEAR(two.probability(policy, {0, 0}), 0.25, 0.01);
  EXPECT_NEAR(two.probability(policy, {1, 1}), 0.25, 0.01);
}

TEST(Refit, ByGradientWithoutElitesChangesNothing) {
  TwoOps two;
  ChainPolicy policy(two.list);
  policy.parameters()[0] = 0.3f;
  const std::vector<float> before(policy.parameters().begin(), policy.parameters().end());
  refit(policy, {}, two.chunks, two.ascent, 0, 10);
  EXPECT_EQ(before, std::vector<float>(policy.parameters().begin(), policy.parameters().end()));
  EXPECT_EQ(policy.forwards, 0u);
}

TEST(Refit, TakesTheClosedFormWhereThereIsOne) {
  TwoOps two;
  const auto policy = policy::make_policy("post", table({{"eps", number(0.1)}}), two.list, 1);
  refit(*policy, std::vector{timed({0, 1}, 1)}, two.chunks, two.ascent, 0, 1);
  EXPECT_NEAR(two.probability(*policy, {0, 1}), 0.95 * 0.95, 1e-6);
}

}  // namespace
}  // namespace emplace::learn::likelihood_test
