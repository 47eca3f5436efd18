// REINFORCE against docs/papers/colocrl.md, items 7.4 and 7.5, and docs/papers/hierarchical.md, items 7.6 and 7.7.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/not_finite.hpp"
#include "emplace/base/error.hpp"
#include "learn/schedule.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::reinforce_test {
namespace {

using namespace test;
using ::testing::Each;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// A policy on two ops and two devices with a learner whose step is the gradient itself: outcomes are given by hand.
struct ByHand {
  explicit ByHand(ConfigTable options, const std::string& policy_name = "chain", std::size_t problems = 1) {
    for (std::size_t p = 0; p < problems; ++p) list.push_back({&problem, make_grouping(problem, GroupingKind::op)});
    for (const auto& [key, value] : {std::pair{"optimizer", text("sgd")},
                                     {"learning_rate", number(1)},
                                     {"clip_norm", number(0)},
                                     {"reward", text("time")},
                                     {"time_unit", number(1e-3)}})
      if (!options.contains(key)) options.set(key, value);
    policy = make_small_policy(policy_name, list, 1);
    Stream random{{.seed = 5}};
    for (float& parameter : policy->parameters()) parameter = static_cast<float>(random.uniform() - 0.5);
    learner = find_entry(learners(), "reinforce", "learner").make(options, {list});
  }
  // How far an update moves the parameters: with plain steps of rate 1, the gradient of the expected reward.
  std::vector<double> move(const std::vector<policy::Rollout>& batch) {
    const std::vector<float> before(policy->parameters().begin(), policy->parameters().end());
    metrics = learner->update(*policy, batch);
    std::vector<double> moved;
    for (std::size_t i = 0; i < before.size(); ++i)
      moved.push_back(static_cast<double>(policy->parameters()[i]) - before[i]);
    return moved;
  }
  Problem problem = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}}, {{0, 1}});  // t_fail: 20 ms
  std::vector<policy::PolicyProblem> list;
  std::unique_ptr<policy::Policy> policy;
  std::unique_ptr<Learner> learner;
  std::map<std::string, double> metrics;
};

const std::vector<std::vector<std::uint8_t>> all_actions = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
const double costs[] = {3, 1, 4, 2};  // milliseconds

TEST(Reinforce, EstimatesTheEnumeratedGradient) {
  // ColocRL item 7.4: M = 2, D = 2. dJ/dtheta by enumeration of p R, by finite differences of J, and the estimator with
  // an arbitrary baseline (here R_fail = -20) over a batch that has every placement as often as its probability says.
  ByHand exact(table({}));
  std::vector<policy::Rollout> all;
  for (std::size_t i = 0; i < 4; ++i) all.push_back(timed(all_actions[i], costs[i]));
  const auto expected_reward = [&] {
    policy::LogProbabilities log;
    exact.policy->forward(all, log);
    double sum = 0;
    for (std::size_t s = 0; s < 4; ++s) sum -= std::exp(log.of(s)[0] + log.of(s)[1]) * costs[s];
    return sum;
  };
  std::vector<double> differences;
  for (float& parameter : exact.policy->parameters()) {
    const float before = parameter;
    parameter = before + 1.0f / 128;
    const double above = expected_reward();
    parameter = before - 1.0f / 128;
    differences.push_back((above - expected_reward()) * 64);
    parameter = before;
  }
  policy::LogProbabilities log;
  exact.policy->forward(all, log);
  std::vector<policy::Rollout> batch;
  for (std::size_t s = 0; s < 4; ++s) {
    const auto copies = static_cast<std::size_t>(std::llround(10000 * std::exp(log.of(s)[0] + log.of(s)[1])));
    EXPECT_GT(copies, 500u);
    batch.insert(batch.end(), copies, all[s]);
  }
  const std::vector<double> moved = exact.move(batch);
  // Each share is rounded by at most 1/20000, and coefficients are below 20.
  for (std::size_t i = 0; i < moved.size(); ++i) EXPECT_NEAR(moved[i], differences[i], 5e-3) << i;
  EXPECT_GT(*std::ranges::max_element(moved), 0.1);
}

TEST(Reinforce, HasTheEnumeratedGradientAsItsMeanWhenItSamples) {
  // 4000 updates of K = 8 drawn samples; an advantage is below 20, so a coefficient's deviation is below 20 / 2 /
  // sqrt(32000) = 0.056; 4 standard deviations. Parameters are restored after every update.
  ByHand sampled(table({{"baseline", text("none")}}));
  const std::vector<float> start(sampled.policy->parameters().begin(), sampled.policy->parameters().end());
  std::vector<double> mean(start.size(), 0.0);
  for (std::uint64_t update = 1; update <= 4000; ++update) {
    std::vector<policy::Rollout> batch(8);
    for (std::uint32_t s = 0; s < 8; ++s) {
      Stream stream{{.seed = 8, .purpose = Purpose::sample_placement, .update = update, .index = s}};
      const policy::SampleSlot draw{&stream, {&batch[s], 1}};
      sampled.policy->sample({&draw, 1});
      batch[s] = timed(batch[s].actions, costs[2 * batch[s].actions[0] + batch[s].actions[1]]);
    }
    const auto moved = sampled.move(batch);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += moved[i] / 4000;
    std::ranges::copy(start, sampled.policy->parameters().begin());
  }
  std::vector<policy::Rollout> all;
  for (std::size_t i = 0; i < 4; ++i) all.push_back(timed(all_actions[i], costs[i]));
  policy::LogProbabilities log;
  sampled.policy->forward(all, log);
  std::vector<double> coefficients;
  for (std::size_t s = 0; s < 4; ++s)
    coefficients.insert(coefficients.end(), 2, -std::exp(log.of(s)[0] + log.of(s)[1]) * costs[s]);
  std::ranges::fill(sampled.policy->gradient(), 0.0f);
  sampled.policy->backward(all, coefficients, 0);
  for (std::size_t i = 0; i < mean.size(); ++i) EXPECT_NEAR(mean[i], sampled.policy->gradient()[i], 0.06) << i;
  EXPECT_GT(*std::ranges::max_element(sampled.policy->gradient()), 0.2);  // far more than the error allowed
}

// The parameters after so many steps of plain gradient ascent on sum_s R_s / K log p_s, computed here.
std::vector<float> after_steps(policy::Policy& policy, const std::vector<policy::Rollout>& batch, int steps) {
  for (; steps > 0; --steps) {
    policy::LogProbabilities log;
    policy.forward(batch, log);
    std::vector<double> coefficients;
    for (std::size_t s = 0; s < batch.size(); ++s)
      coefficients.insert(coefficients.end(), log.of(s).size(),
                          -to_seconds(batch[s].outcome.makespan) * 1e3 / static_cast<double>(batch.size()));
    std::ranges::fill(policy.gradient(), 0.0f);
    policy.backward(batch, coefficients, 0);
    for (std::size_t i = 0; i < policy.parameters().size(); ++i) policy.parameters()[i] += policy.gradient()[i];
  }
  return {policy.parameters().begin(), policy.parameters().end()};
}

TEST(Reinforce, TakesOneStepAlongTheGradientUnlessItHasMoreEpochs) {
  const std::vector batch = {timed({0, 1}, 5), timed({1, 1}, 4)};
  for (const ConfigTable& options : {table({}), table({{"epochs", whole(1)}})}) {
    ConfigTable chosen = options;
    chosen.set("baseline", text("none"));
    ByHand hand(chosen), other(chosen);
    hand.move(batch);
    EXPECT_THAT(hand.policy->parameters(), ElementsAreArray(after_steps(*other.policy, batch, 1)));
  }
}

TEST(Reinforce, TakesAStepInEachEpochAlongTheGradientAtTheParametersOfItsTime) {
  const std::vector batch = {timed({0, 1}, 5), timed({1, 1}, 4)};
  const ConfigTable options = table({{"epochs", whole(4)}, {"baseline", text("none")}});
  ByHand hand(options), other(options), once(table({{"baseline", text("none")}}));
  const auto four = hand.move(batch), one = once.move(batch);
  EXPECT_THAT(hand.policy->parameters(), ElementsAreArray(after_steps(*other.policy, batch, 4)));
  double difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) difference = std::max(difference, std::abs(four[i] - 4 * one[i]));
  EXPECT_GT(difference, 0.1) << "the gradient changes from step to step";
  EXPECT_EQ(hand.metrics.at("entropy"), once.metrics.at("entropy")) << "of the distribution that was drawn from";
}

TEST(Reinforce, CountsAnUpdateOfSeveralEpochsOnce) {
  // Four steps of Adam; the baseline, the number of updates and the advantages are those of one update.
  const std::vector batch = {timed({0, 1}, 5), timed({1, 1}, 4)};
  ByHand four(table({{"optimizer", text("adam")}, {"epochs", whole(4)}})), one(table({{"optimizer", text("adam")}}));
  four.move(batch);
  one.move(batch);
  State after_four = four.learner->save(), after_one = one.learner->save();
  EXPECT_EQ(get_scalar<std::int64_t>(after_four, "optimizer/step"), 4);
  EXPECT_EQ(get_scalar<std::int64_t>(after_one, "optimizer/step"), 1);
  for (State* state : {&after_four, &after_one})
    std::erase_if(*state, [](const auto& entry) { return entry.first.starts_with("optimizer/"); });
  EXPECT_EQ(after_four, after_one);
}

TEST(Reinforce, LearnsNothingWhereEveryRewardIsTheBaseline) {
  // Hierarchical item 7.7. B begins at R_fail; t_fail = 5 ms.
  ByHand hand(table({{"t_fail", number(5e-3)}}));
  EXPECT_THAT(hand.move({timed({0, 1}, 5), timed({1, 1}, 5)}), Each(0.0));
  EXPECT_EQ(hand.metrics.at("gradient_norm"), 0);
  EXPECT_DOUBLE_EQ(hand.metrics.at("baseline"), -5);
}

TEST(Reinforce, WithoutAFailingSampleIsTheUpdateOfTheOthers) {
  // Hierarchical item 7.7: one of four fails after skip_failing_after.
  for (const char* policy : {"chain", "episode"}) {
    const ConfigTable skips = table({{"skip_failing_after", whole(0)}});
    std::vector<policy::Rollout> four, three;
    for (std::uint32_t s = 0; s < 4; ++s)
      for (std::uint32_t round = 0; round < (policy == std::string("chain") ? 1u : 3u); ++round) {
        policy::Rollout rollout = timed(all_actions[s], costs[s]);
        rollout.sample = s;
        if (policy == std::string("episode")) {
          rollout.round = round;
          rollout.observation = {0.5f};
          rollout.actions.clear();
          if (round > 0) rollout.actions = {all_actions[s][round - 1]};
        }
        if (s == 2) rollout.outcome.why = Infeasible::memory;
        four.push_back(rollout);
        if (s != 2) three.push_back(rollout);
      }
    ByHand with(skips, policy), without(skips, policy);
    EXPECT_EQ(with.move(four), without.move(three)) << policy;
    EXPECT_EQ(with.learner->save(), without.learner->save());
    EXPECT_EQ(with.metrics, without.metrics);
    EXPECT_EQ(with.metrics.at("used_samples"), 3);
  }
}

TEST(Reinforce, DoesNothingWhereNoSampleIsLeft) {
  ByHand hand(table({{"skip_failing_after", whole(0)}, {"optimizer", text("adam")}, {"entropy_weight", number(1)}}));
  auto batch = std::vector{timed({0, 1}, 5), timed({1, 1}, 4)};
  hand.move(batch);
  const State before = hand.learner->save();
  for (policy::Rollout& rollout : batch) rollout.outcome.why = Infeasible::memory;
  EXPECT_THAT(hand.move(batch), Each(0.0)) << "no step from Adam's momentum either";
  State after = hand.learner->save();
  put_scalar<std::uint64_t>(after, "updates", 1);
  EXPECT_EQ(after, before);
  EXPECT_GT(hand.metrics.at("entropy"), 0);
}

TEST(Reinforce, WeighsSamplesEqually) {
  // Twice the same batch is the same mean, and twice the sum.
  const auto batch = std::vector{timed({0, 1}, 5), timed({1, 1}, 4)};
  auto twice = batch;
  twice.insert(twice.end(), batch.begin(), batch.end());
  for (const auto& [over, factor] : {std::pair{"mean", 1.0}, {"sum", 2.0}}) {
    const ConfigTable options = table({{"over_samples", text(over)}, {"entropy_weight", number(0.5)}});
    const auto one = ByHand(options).move(batch);
    const auto two = ByHand(options).move(twice);
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(two[i], factor * one[i], 1e-5) << over;
  }
}

TEST(Reinforce, TakesEachProblemsOwnBaseline) {
  // Step times of problem 1 are ten times as large; with first means as baselines and normalized advantages both learn
  // alike.
  ByHand hand(table({{"baseline_start", text("first")}, {"normalize", flag(true)}}), "post", 2);
  std::ranges::fill(hand.policy->parameters(), 0.0f);
  std::vector<policy::Rollout> batch;
  for (std::uint32_t p = 0; p < 2; ++p)
    for (std::size_t s = 0; s < 4; ++s) {
      batch.push_back(timed(all_actions[s], costs[s] * (p == 0 ? 1 : 10)));
      batch.back().problem = p;
    }
  const auto moved = hand.move(batch);
  ASSERT_EQ(moved.size(), 8u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(moved[i], moved[4 + i], 1e-6);
  EXPECT_GT(std::abs(moved[2]), 0.01);
}

TEST(Reinforce, GivesEntropyItsWeight) {
  // All rewards equal the baseline: only the entropy acts, and it grows.
  ByHand hand(table({{"t_fail", number(5e-3)}, {"entropy_weight", number(0.1)}}));
  const auto batch = std::vector{timed({0, 1}, 5), timed({1, 1}, 5)};
  hand.move(batch);
  const double before = hand.metrics.at("entropy");
  for (int update = 0; update < 20; ++update) hand.move(batch);
  EXPECT_GT(hand.metrics.at("entropy"), before);
  EXPECT_LE(hand.metrics.at("entropy"), std::log(2.0));
}

TEST(Reinforce, GivesEntropyTheWeightOfItsSchedule) {
  // Again only the entropy acts, and a plain step is proportional to its weight: 1, 1/2 and then 0. Parameters are
  // restored.
  ByHand hand(table({{"t_fail", number(5e-3)},
                     {"entropy_weight", number(1)},
                     {"entropy_weight_end", number(0)},
                     {"entropy_share", number(0.5)}}));
  const std::vector<float> start(hand.policy->parameters().begin(), hand.policy->parameters().end());
  std::vector<std::vector<double>> moves;
  for (const auto& [progress, weight] : {std::pair{0.0, 1.0}, {0.25, 0.5}, {0.5, 0.0}, {0.75, 0.0}}) {
    std::vector batch = {timed({0, 1}, 5), timed({1, 1}, 5)};
    for (policy::Rollout& rollout : batch) rollout.progress = progress;
    moves.push_back(hand.move(batch));
    EXPECT_EQ(hand.metrics.at("entropy_weight"), weight);
    std::ranges::copy(start, hand.policy->parameters().begin());
  }
  EXPECT_GT(*std::ranges::max_element(moves[0]), 0.01);
  for (std::size_t i = 0; i < start.size(); ++i) EXPECT_NEAR(moves[1][i], moves[0][i] / 2, 1e-6);
  EXPECT_THAT(moves[2], Each(0.0));
  EXPECT_THAT(moves[3], Each(0.0));
}

TEST(EntropySchedule, IsLinear) {
  // Placeto: 1 to 0 over half of the episodes.
  const EntropyOptions options{.entropy_weight = 1, .entropy_weight_end = 0, .entropy_share = 0.5};
  EXPECT_EQ(options.weight(0), 1);
  EXPECT_EQ(options.weight(0.25), 0.5);
  EXPECT_EQ(options.weight(0.5), 0);
  EXPECT_EQ(options.weight(1), 0);
  EXPECT_EQ((EntropyOptions{.entropy_weight = 0.3}.weight(0.9)), 0.3);
}

TEST(Reinforce, RefusesControllersThatDoNotDivideItsSamples) {
  try {
    ByHand hand(table({{"controllers", whole(3)}}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("controllers (3) must divide samples_per_update (8)"));
  }
}

TEST(Reinforce, RefusesAnOptimizerStateOfAnotherSize) {
  const auto batch = std::vector{timed({0, 1}, 5), timed({1, 1}, 4)};
  ByHand small(table({})), large(table({}), "post", 2);
  small.move(batch);
  try {
    large.learner->load(small.learner->save(), *large.policy);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("array first has 14 elements, wanted 8"));
  }
}

TEST(Reinforce, StopsWhereAStepWouldOverflow) {
  // A step of rate 1000 with an entropy weight of 1e38 overflows a float.
  ByHand hand(table({{"learning_rate", number(1000)}, {"entropy_weight", number(1e38)}}));
  EXPECT_THROW(hand.move({timed({0, 1}, 5), timed({1, 1}, 4)}), NotFinite);
}

}  // namespace
}  // namespace emplace::learn::reinforce_test
