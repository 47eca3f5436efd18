#include "learn/rewards.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::rewards_test {
namespace {

using namespace test;

struct OneProblem {
  explicit OneProblem(const Problem& problem) : list{{&problem, make_grouping(problem, GroupingKind::op)}} {}
  std::vector<policy::PolicyProblem> list;
};

policy::Rollout rollout_of(double seconds, Infeasible why = Infeasible::no, Bytes overflow = 0) {
  policy::Rollout rollout;
  rollout.outcome.makespan = static_cast<Ticks>(seconds * 1e12);
  rollout.outcome.why = why;
  rollout.outcome.overflow = overflow;
  return rollout;
}

TEST(SingleDeviceTime, IsTheLeastSumOverDevicesThatRunEverything) {
  EXPECT_EQ(single_device_time(chain_5(2)), 24 * ms) << "4+6+8+6+4 = 28 and 8+3+2+3+8 = 24";
  // Device 0 lasts 1 + 1 but cannot run c; device 1: 5 + 5 + 5.
  EXPECT_EQ(single_device_time(tiny(plain_devices(2), {{"a", {1, 5}}, {"b", {1, 5}}, {"c", {no, 5}}}, {})), 15 * ms);
}

TEST(SingleDeviceTime, IsTheSumOfFastestTimesWhereNoDeviceRunsEverything) {
  EXPECT_EQ(single_device_time(tiny(plain_devices(2), {{"a", {no, 5}}, {"b", {2, 3}}, {"c", {1, no}}}, {})), 8 * ms);
}

TEST(Rewards, HaveFiveForms) {
  const Problem problem = chain_5(2);
  const OneProblem one(problem);
  for (const auto& [form, at_4, at_1] : {std::tuple{"sqrt", -2.0, -1.0},
                                         {"time", -4.0, -1.0},
                                         {"log", -std::log(4.0), 0.0},
                                         {"log1p", -std::log(5.0), -std::log(2.0)},
                                         {"inverse", 0.25, 1.0}}) {
    const Rewards rewards({.reward = form}, one.list);
    EXPECT_DOUBLE_EQ(*rewards.of(rollout_of(4), 1), at_4) << form;
    EXPECT_DOUBLE_EQ(*rewards.of(rollout_of(1), 1), at_1) << form;
  }
}

TEST(Rewards, MeasureTimesInTheProblemsSingleDeviceTimeOnRequest) {
  const Problem problem = chain_5(2);  // 24 ms
  const OneProblem one(problem);
  const Rewards relative({.reward = "time", .time_unit = 0}, one.list);
  EXPECT_DOUBLE_EQ(*relative.of(rollout_of(0.012), 1), -0.5);
  const Rewards in_ms({.reward = "time", .time_unit = 1e-3}, one.list);
  EXPECT_DOUBLE_EQ(*in_ms.of(rollout_of(0.012), 1), -12);
}

TEST(Rewards, CountAnInfeasiblePlacementAsTenTimesTheSingleDeviceTimeUnlessToldOtherwise) {
  const Problem problem = chain_5(2);  // 24 ms
  const OneProblem one(problem);
  const Rewards rewards(RewardOptions{}, one.list);
  EXPECT_DOUBLE_EQ(rewards.failing(0), -std::sqrt(0.24));
  for (const Infeasible why : {Infeasible::memory, Infeasible::unsupported_op, Infeasible::split_group})
    EXPECT_DOUBLE_EQ(*rewards.of(rollout_of(0.001, why), 1), -std::sqrt(0.24));
  const Rewards hundred({.t_fail = 100}, one.list);
  EXPECT_DOUBLE_EQ(hundred.failing(0), -10);
}

TEST(Rewards, CountAnInfeasiblePlacementAsMinusTenWhateverTheProblemsScale) {
  // docs/papers/gdp.md, section 2.6: -sqrt(t / t_ref), and -10 for what does not run. The problems take 24 ms and 22 ms
  // on one device.
  for (const Problem& problem : {chain_5(2), fork_join(2)}) {
    const OneProblem one(problem);
    const Rewards rewards({.time_unit = 0, .fail_factor = 100}, one.list);
    EXPECT_DOUBLE_EQ(rewards.failing(0), -10);
    EXPECT_DOUBLE_EQ(*rewards.of(rollout_of(0.001, Infeasible::memory), 1), -10);
    EXPECT_DOUBLE_EQ(*rewards.of(rollout_of(to_seconds(single_device_time(problem))), 1), -1);
  }
}

TEST(Rewards, TakeATimeOfFailureOrAFactorAndNotBoth) {
  EXPECT_NO_THROW(check(RewardOptions{.t_fail = 5}, ConfigTable("test")));
  EXPECT_NO_THROW(check(RewardOptions{.fail_factor = 100}, ConfigTable("test")));
  EXPECT_THROW(check(RewardOptions{.t_fail = 5, .fail_factor = 100}, ConfigTable("test")), InputError);
  const auto refused = [](const char* learner) {
    return find_entry(learners(), learner, "learner")
        .resolve(table({{"t_fail", number(5)}, {"fail_factor", number(100)}}));
  };
  for (const char* learner : {"reinforce", "ppo"}) EXPECT_THROW(refused(learner), InputError) << learner;
}

TEST(Rewards, AreZeroForInfeasiblePlacementsOnRequest) {
  const Problem problem = chain_5(2);
  const OneProblem one(problem);
  const Rewards rewards({.reward = "inverse", .infeasible = "zero"}, one.list);
  EXPECT_DOUBLE_EQ(*rewards.of(rollout_of(0.5, Infeasible::memory), 1), 0);
  EXPECT_DOUBLE_EQ(*rewards.of(rollout_of(0.5), 1), 2);
  EXPECT_DOUBLE_EQ(rewards.failing(0), 0);
}

TEST(Rewards, TakePlacetosPenaltyForMissingMemory) {
  // docs/papers/placeto.md, item 7.9: 1 s and 9.5e9 bytes of 8e9: 1 + 2 x 1.5 = 4; 20e9 bytes: 1 + 2 x 12 = 25, capped
  // at 10.
  const Problem problem = chain_5(2);
  const OneProblem one(problem);
  const Rewards rewards({.reward = "time", .infeasible = "penalty"}, one.list);
  EXPECT_DOUBLE_EQ(*rewards.of(rollout_of(1, Infeasible::memory, 1'500'000'000), 1), -4);
  EXPECT_DOUBLE_EQ(*rewards.of(rollout_of(1, Infeasible::memory, 12'000'000'000), 1), -10);
  EXPECT_DOUBLE_EQ(*rewards.of(rollout_of(11), 1), -10) << "the cap is for every placement";
  const Rewards uncapped({.reward = "time", .infeasible = "penalty", .penalty_cap = 0}, one.list);
  EXPECT_DOUBLE_EQ(*uncapped.of(rollout_of(1, Infeasible::memory, 12'000'000'000), 1), -25);
}

TEST(Rewards, PenalizeOnlyMissingMemoryByTheByte) {
  // t_fail = 7 s for placements without a step time, and for a split group, whose step time has no meaning.
  const Problem problem = chain_5(2);
  const OneProblem one(problem);
  const Rewards rewards({.reward = "time", .infeasible = "penalty", .t_fail = 7}, one.list);
  policy::Rollout untimed;
  untimed.outcome.why = Infeasible::missing_route;
  EXPECT_DOUBLE_EQ(*rewards.of(untimed, 1), -7);
  EXPECT_DOUBLE_EQ(*rewards.of(rollout_of(1, Infeasible::split_group), 1), -7);
  const Rewards beyond({.reward = "time", .infeasible = "penalty", .t_fail = 70}, one.list);
  EXPECT_DOUBLE_EQ(beyond.failing(0), -10);
}

TEST(Rewards, TakeTwiceTheSlowestFeasibleTimeSoFar) {
  const Problem problem = chain_5(2);
  const OneProblem one(problem);
  Rewards rewards({.reward = "time", .infeasible = "slowest"}, one.list);
  const policy::Rollout infeasible = rollout_of(0.5, Infeasible::memory);
  rewards.see(std::vector{infeasible});
  EXPECT_FALSE(rewards.of(infeasible, 1).has_value());
  rewards.see(std::vector{rollout_of(3), infeasible, rollout_of(2)});
  EXPECT_DOUBLE_EQ(*rewards.of(infeasible, 1), -6);
  State state;
  rewards.save(state);
  Rewards resumed({.reward = "time", .infeasible = "slowest"}, one.list);
  resumed.load(state);
  EXPECT_DOUBLE_EQ(*resumed.of(infeasible, 1), -6);
  put(state, "slowest_time", std::vector<std::int64_t>{0});
  EXPECT_THROW(resumed.load(state), InputError);
}

TEST(Rewards, LeaveInfeasiblePlacementsOutAfterSoManyUpdates) {
  const Problem problem = chain_5(2);
  const OneProblem one(problem);
  const Rewards rewards({.skip_failing_after = 2}, one.list);
  EXPECT_TRUE(rewards.of(rollout_of(1, Infeasible::memory), 2).has_value());
  EXPECT_FALSE(rewards.of(rollout_of(1, Infeasible::memory), 3).has_value());
  EXPECT_TRUE(rewards.of(rollout_of(1), 3).has_value());
}

}  // namespace
}  // namespace emplace::learn::rewards_test
