// Post's table of categoricals: the numbers of docs/papers/post.md, section 7, items 2, 3 and 8.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "emplace/policy/policy.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::policy::post_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::FloatNear;

struct Post {
  explicit Post(Problem p, double eps = 0) : problem(std::move(p)) {
    list.push_back({&problem, make_grouping(problem, GroupingKind::op)});
    ConfigTable options;
    options.set("eps", {eps, ""});
    policy = make_policy("post", options, list, 1);
  }
  [[nodiscard]] std::vector<double> probabilities() const {
    const std::size_t devices = problem.device_count();
    std::vector<double> f;
    for (std::size_t row = 0; row < policy->parameters().size(); row += devices) {
      double sum = 0;
      for (std::size_t d = 0; d < devices; ++d) sum += std::exp(policy->parameters()[row + d]);
      for (std::size_t d = 0; d < devices; ++d) f.push_back(std::exp(policy->parameters()[row + d]) / sum);
    }
    return f;
  }
  Problem problem;
  std::vector<PolicyProblem> list;
  std::unique_ptr<Policy> policy;
};

Problem ops(std::size_t count, std::size_t devices) {
  std::vector<TinyOp> list;
  for (std::size_t i = 0; i < count; ++i) list.push_back({"op" + std::to_string(i), std::vector<double>(devices, 1)});
  return tiny(plain_devices(devices), list, {});
}

Rollout with(std::vector<std::uint8_t> actions) {
  Rollout rollout;
  rollout.actions = std::move(actions);
  return rollout;
}

TEST(PostPolicy, StartsUniformOverTheDevicesThatCanRun) {
  Post post(tiny(plain_devices(3), {{"a", {1, no, 1}}, {"b", {no, no, 1}}}, {}));
  EXPECT_THAT(post.probabilities(), ElementsAre(0.5, 0, 0.5, 0, 0, 1));
}

TEST(PostPolicy, RefitsToElitesAsInTheWorkedExample) {
  // Item 2: elites (0,1), (0,0), (0,1) -> f = [1, 0; 1/3, 2/3]; eps = 0.1 -> [0.95, 0.05; 0.35, 0.65].
  Post post(ops(2, 2), 0.1);
  post.policy->fit(std::vector{with({0, 1}), with({0, 0}), with({0, 1})});
  EXPECT_THAT(post.policy->parameters(), ElementsAre(FloatNear(-0.051293f, 1e-6f), FloatNear(-2.995732f, 1e-6f),
                                                     FloatNear(-1.049822f, 1e-6f), FloatNear(-0.430783f, 1e-6f)));
  const auto f = post.probabilities();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(f[i], (std::vector{0.95, 0.05, 0.35, 0.65})[i], 1e-7);
}

TEST(PostPolicy, WithoutElitesOnlyMixes) {
  Post post(ops(1, 2), 0.1);
  post.policy->parameters()[0] = std::log(0.8f);
  post.policy->parameters()[1] = std::log(0.2f);
  post.policy->fit({});
  EXPECT_NEAR(post.probabilities()[0], 0.9 * 0.8 + 0.05, 1e-6);
}

TEST(PostPolicy, MixesOverTheRowsAllowedDevicesAndLosesNone) {
  // Row a may use 2 of 3 devices: eps/2 each. Row b has one, whose probability stays 1.
  Post post(tiny(plain_devices(3), {{"a", {1, no, 1}}, {"b", {no, no, 1}}}, {}), 0.1);
  post.policy->fit(std::vector{with({0, 2})});
  const auto f = post.probabilities();
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(f[i], (std::vector{0.95, 0.0, 0.05, 0.0, 0.0, 1.0})[i], 1e-7);
}

TEST(PostPolicy, TakesEpsFromTheSizeOfTheProblemByDefault) {
  // clamp(D / ((D-1) M), 0.01, 0.1): D=2, M=40: 2/40 = 0.05; after a refit to one elite the other device has eps/2.
  for (const auto& [units, eps] : {std::pair<std::size_t, double>{40, 0.05}, {5, 0.1}, {1000, 0.01}}) {
    Post post(ops(units, 2));
    post.policy->fit(std::vector{with(std::vector<std::uint8_t>(units, 0))});
    EXPECT_NEAR(post.probabilities()[1], eps / 2, 1e-7) << units << " units";
  }
}

TEST(PostPolicy, HasTheGradientOfTheWorkedExample) {
  // Item 3: u = 0, d=0 with A=+1 and d=1 with A=-1, averaged over the two: (0.5, -0.5).
  Post post(ops(1, 2));
  const std::vector<Rollout> batch{with({0}), with({1})};
  LogProbabilities log;
  post.policy->forward(batch, log);
  post.policy->backward(batch, std::vector{0.5, -0.5}, 0);
  EXPECT_THAT(post.policy->gradient(), ElementsAre(FloatEq(0.5f), FloatEq(-0.5f)));
}

TEST(PostPolicy, HasNoKlGradientAtTheOldParameters) {
  Post post(ops(2, 3));
  post.policy->mark_reference();
  LogProbabilities log;
  post.policy->forward({}, log);
  post.policy->add_kl_gradient(1);
  for (const float g : post.policy->gradient()) EXPECT_EQ(g, 0);
}

TEST(PostPolicy, KlIsTheMeanOverUnits) {
  // One of two units moves from (1/2, 1/2) to (0.8, 0.2): KL(old || new) = 0.5 log(0.5/0.8) + 0.5 log(0.5/0.2).
  Post post(ops(2, 2));
  post.policy->mark_reference();
  post.policy->parameters()[0] = std::log(0.8f);
  post.policy->parameters()[1] = std::log(0.2f);
  EXPECT_NEAR(post.policy->kl(), (0.5 * std::log(0.5 / 0.8) + 0.5 * std::log(0.5 / 0.2)) / 2, 1e-7);
}

}  // namespace
}  // namespace emplace::policy::post_test
