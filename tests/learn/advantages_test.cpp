#include "learn/advantages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::advantages_test {
namespace {

using namespace test;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Problems {
  Problem problem = chain_5(2);  // single-device time 24 ms
  std::vector<policy::PolicyProblem> list = {{&problem, make_grouping(problem, GroupingKind::op)},
                                             {&problem, make_grouping(problem, GroupingKind::op)}};
};

// Samples of one round with these step times in seconds; 0: infeasible.
std::vector<policy::Rollout> batch_of(const std::vector<double>& seconds, std::uint32_t problem = 0) {
  std::vector<policy::Rollout> batch;
  for (const double time : seconds) {
    batch.push_back(timed({0}, 1e3 * time));
    batch.back().problem = problem;
    if (time == 0) batch.back().outcome.why = Infeasible::memory;
  }
  return batch;
}

// An episode like Placeto's: the initial placement's time, then one for each decision.
std::vector<policy::Rollout> episode(const std::vector<double>& seconds, std::uint32_t problem = 0) {
  auto rounds = batch_of(seconds, problem);
  for (std::uint32_t r = 0; r < rounds.size(); ++r) rounds[r].round = r;
  rounds.front().actions.clear();
  return rounds;
}

std::vector<policy::Rollout> operator+(std::vector<policy::Rollout> a, const std::vector<policy::Rollout>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

AdvantageOptions colocrl() { return {.reward = {.reward = "time", .t_fail = 10}}; }
AdvantageOptions placeto() {
  return {.reward = {.reward = "time", .infeasible = "penalty"}, .returns = "step", .baseline = "window"};
}

TEST(Advantages, AreRewardsAboveTheBaseline) {
  // B = R_fail = -10, then 0.9 x -10 + 0.1 x mean(-1, -3, -2) = -9.2.
  const Problems p;
  Advantages advantages(colocrl(), p.list);
  EXPECT_THAT(advantages.of(batch_of({1, 3, 2}), 1).value, ElementsAre(9, 7, 8));
  const AdvantageBatch second = advantages.of(batch_of({4}), 2);
  EXPECT_THAT(second.value, ElementsAre(DoubleNear(5.2, 1e-12)));
  EXPECT_DOUBLE_EQ(second.baseline, -9.2);
}

TEST(Advantages, OfFailingSamplesStopMovingTheBaselineAfterSoManyUpdates) {
  // docs/papers/colocrl.md, item 7.5. R_fail = -10 = B: while failing samples count, B = 0.9 x -10 + 0.1 (-10 - 2) / 2
  // = -9.6.
  const Problems p;
  AdvantageOptions options = colocrl();
  options.reward.skip_failing_after = 1;
  Advantages advantages(options, p.list);
  EXPECT_THAT(advantages.of(batch_of({0, 2}), 1).used, ElementsAre(0, 1));
  const AdvantageBatch skipped = advantages.of(batch_of({2, 0}), 2);
  EXPECT_DOUBLE_EQ(skipped.baseline, -9.6);
  EXPECT_THAT(skipped.used, ElementsAre(0));
  EXPECT_THAT(skipped.value, ElementsAre(DoubleNear(7.6, 1e-12), 0));
  // B = 0.9 x -9.6 + 0.1 x -2 = -8.84, and does not change in an update without used samples.
  EXPECT_THAT(advantages.of(batch_of({0, 0}), 3).used, IsEmpty());
  EXPECT_DOUBLE_EQ(advantages.of(batch_of({1}), 4).baseline, -8.84);
}

TEST(Advantages, OfThePlacetoFormAreZeroInTheFirstEpisode) {
  // docs/papers/placeto.md, item 7.8: the window of G_t includes this episode, so the first baseline equals the return.
  const Problems p;
  Advantages advantages(placeto(), p.list);
  EXPECT_THAT(advantages.of(episode({5, 3, 4, 2}), 1).value, Each(0.0));
}

TEST(Advantages, DoNotMixStepsOfAnEpisode) {
  // G = 3, 1, 2, then (rho = 5, 3, 2, 4) 1, -1, -2. Means 2, 0, 0: A = -1, -1, -2.
  const Problems p;
  Advantages advantages(placeto(), p.list);
  advantages.of(episode({5, 3, 4, 2}), 1);
  EXPECT_THAT(advantages.of(episode({5, 3, 2, 4}), 2).value, ElementsAre(0, -1, -1, -2));
}

TEST(Advantages, AverageWorkersOfOneGraphAndKeepGraphsApart) {
  // Two workers in one update: G = 3, 1, 2 and 1, -1, -2, means 2, 0, 0; another graph has its own baseline: nothing.
  const Problems p;
  Advantages advantages(placeto(), p.list);
  const auto batch = advantages.of(episode({5, 3, 4, 2}) + episode({5, 3, 2, 4}) + episode({9, 9, 1}, 1), 1);
  EXPECT_THAT(batch.value, ElementsAre(0, 1, 1, 2, 0, -1, -1, -2, 0, 0, 0));
  EXPECT_THAT(batch.begins, ElementsAre(0, 4, 8, 11));
}

TEST(Advantages, GiveEachControllerItsOwnBaseline) {
  // Controllers of two samples each; first means -2 and -6.
  const Problems p;
  AdvantageOptions options = colocrl();
  options.baseline_start = "first";
  Advantages advantages(options, p.list, 2);
  EXPECT_THAT(advantages.of(batch_of({1, 3, 5, 7}), 1).value, ElementsAre(1, -1, 1, -1));
  EXPECT_THAT(advantages.of(batch_of({1, 1, 1, 1}), 2).value, ElementsAre(1, 1, 5, 5));
}

TEST(Advantages, KeepControllersWhereSamplesAreLeftOut) {
  const Problems p;
  AdvantageOptions options = colocrl();
  options.baseline_start = "first";
  options.reward.skip_failing_after = 0;
  Advantages advantages(options, p.list, 2);
  EXPECT_THAT(advantages.of(batch_of({0, 3, 5, 7}), 1).value, ElementsAre(0, 0, 1, -1));
}

TEST(Advantages, AreDividedByTheSpreadOfTheirProblem) {
  // Problem 0: -1, -3 has the deviation 1, problem 1: -10, -30 has 10; baselines are the means.
  const Problems p;
  AdvantageOptions options = colocrl();
  options.baseline_start = "first";
  options.normalize = true;
  Advantages advantages(options, p.list);
  EXPECT_THAT(advantages.of(batch_of({1, 3}) + batch_of({10, 30}, 1), 1).value, ElementsAre(1, -1, 1, -1));
  EXPECT_THAT(advantages.of(batch_of({1, 1}), 2).value, Each(0.0)) << "the spread of equal times is 0";
}

TEST(Advantages, OfNormalizedEpisodesUseTheSpreadWithinSteps) {
  // G of two episodes: steps (3, 1), (1, -1), (2, -2): deviations 1, 1, 2 about the steps' means: the root of (1 + 1 +
  // 1 + 1 + 4 + 4) / 6 = 2 is the spread; the initial placements do not count.
  const Problems p;
  AdvantageOptions options = placeto();
  options.normalize = true;
  Advantages advantages(options, p.list);
  const double unit = 1 / std::sqrt(2.0);
  EXPECT_THAT(advantages.of(episode({5, 3, 4, 2}) + episode({5, 3, 2, 4}), 1).value,
              ElementsAre(0, DoubleNear(unit, 1e-12), DoubleNear(unit, 1e-12), DoubleNear(2 * unit, 1e-12), 0,
                          DoubleNear(-unit, 1e-12), DoubleNear(-unit, 1e-12), DoubleNear(-2 * unit, 1e-12)));
}

TEST(Advantages, OfTheFinalFormAskOnlyTheLastRound) {
  const Problems p;
  AdvantageOptions options = colocrl();
  options.reward.skip_failing_after = 0;
  Advantages advantages(options, p.list);
  EXPECT_THAT(advantages.of(episode({5, 0, 2}), 1).value, ElementsAre(0, 8, 8));
  EXPECT_THAT(advantages.of(episode({5, 1, 0}), 2).used, IsEmpty());
}

TEST(Advantages, RefuseAMovingAverageOfGainsThatBeginsAtAFailingReward) {
  AdvantageOptions options = colocrl();
  options.returns = "step";
  try {
    check(options, ConfigTable("recipe"), 8);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("baseline_start"));
  }
  options.baseline_start = "first";
  EXPECT_NO_THROW(check(options, ConfigTable("recipe"), 8));
}

TEST(Advantages, RefuseABatchThatIsComparedWithItselfAlone) {
  const auto message = [](AdvantageOptions options, int samples, int controllers) -> std::string {
    options.baseline_start = "first";
    try {
      check(options, ConfigTable("recipe"), samples, controllers);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const AdvantageOptions others{.baseline = "leave-one-out"}, itself{.baseline = "window", .baseline_window = 1};
  EXPECT_THAT(message(others, 1, 1), HasSubstr("with 1 sample an update every advantage is 0"));
  EXPECT_THAT(message(others, 4, 4), HasSubstr("with 4 samples an update for 4 controllers"));
  EXPECT_EQ(message(others, 4, 2), "");
  EXPECT_THAT(message(itself, 1, 1), HasSubstr("a baseline_window of 1"));
  EXPECT_EQ(message(itself, 2, 1), "");
  EXPECT_THAT(message({.normalize = true}, 1, 1), HasSubstr("'normalize'"));
  EXPECT_EQ(message({.normalize = true}, 4, 4), "");
}

}  // namespace
}  // namespace emplace::learn::advantages_test
