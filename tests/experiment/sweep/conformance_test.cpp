// The contract of every strategy (experiment/sweep/strategy.hpp), checked for every entry of sweep_strategies().
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/experiment/sweep/sweeps.hpp"
#include "tests/experiment/sweep/workers.hpp"

namespace emplace::experiment::conformance_test {
namespace {

using test::Carried;
using test::carry_out;

const Space& mixed() {
  static const Space space(ConfigTable::parse_toml(test::mixed_space, "s.toml").table("space"));
  return space;
}

std::unique_ptr<SweepStrategy> made(const SweepStrategyEntry& entry, std::uint64_t seed = 1, std::size_t trials = 40) {
  // The number of trials of a grid follows from its points; few, so that tests are quick.
  ConfigTable options("test");
  if (entry.name == "grid") options.set("points", {std::int64_t{2}, "test"});
  return entry.make(options, {.space = &mixed(), .trials = entry.name == "grid" ? 0 : trials, .seed = seed});
}

// The objective of a trial: some neighbouring values fail; a larger budget gives a better value.
std::optional<double> judge(const Assignment& assignment, double share) {
  double sum = 0;
  for (const auto& value : assignment.values) sum += value ? std::sin(*value * 3 + 1) : 0.25;
  if (std::fmod(std::abs(sum) * 100, 7) < 1) return std::nullopt;
  return std::exp(sum) * (1 + 0.5 * (1 - share));
}
std::optional<double> always_fails(const Assignment&, double) { return std::nullopt; }

class EveryStrategy : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] const SweepStrategyEntry& entry() const { return sweep_strategies()[GetParam()]; }
};

TEST_P(EveryStrategy, TriesAllItsTrialsAndEachRungOfATrialOnce) {
  const auto strategy = made(entry());
  const Carried carried = carry_out(*strategy, 3, 1, judge);
  EXPECT_EQ(carried.tried.size(), strategy->trials());
  EXPECT_EQ(std::set<Work>(carried.works.begin(), carried.works.end()).size(), carried.works.size());
  // A trial goes from rung to rung without gaps, towards larger shares of the budget.
  std::map<std::size_t, std::size_t> last;
  for (const Work& work : carried.works) {
    EXPECT_LT(work.trial, strategy->trials());
    EXPECT_GT(strategy->share(work.rung), 0);
    EXPECT_LE(strategy->share(work.rung), 1);
    if (last.contains(work.trial)) {
      EXPECT_EQ(work.rung, last[work.trial] + 1);
      EXPECT_GT(strategy->share(work.rung), strategy->share(work.rung - 1));
    }
    last[work.trial] = work.rung;
  }
  if (!entry().stops_early) {
    for (const Work& work : carried.works) EXPECT_EQ(strategy->share(work.rung), 1);
  }
}

TEST_P(EveryStrategy, LeavesEveryTrialFailedFinishedOrStopped) {
  const auto strategy = made(entry());
  std::map<std::size_t, double> reached;
  std::set<std::size_t> failed;
  while (const auto work = strategy->next()) {
    const auto objective = judge(strategy->assignment(work->trial), strategy->share(work->rung));
    reached[work->trial] = strategy->share(work->rung);
    if (!objective) failed.insert(work->trial);
    strategy->report(*work, objective);
  }
  for (const auto& [trial, share] : reached)
    EXPECT_EQ(strategy->stopped(trial), !failed.contains(trial) && share < 1) << trial;
}

TEST_P(EveryStrategy, ChangesNothingWhenItHasNothingToHandOut) {
  const auto asked = made(entry());
  const auto left = made(entry());
  for (;;) {
    const auto work = asked->next();
    ASSERT_EQ(work, left->next());
    if (!work) break;
    // Takes all works that are available now; further calls then return nothing, however often they are made.
    std::vector<Work> open = {*work};
    while (const auto more = asked->next()) {
      open.push_back(*more);
      ASSERT_EQ(left->next(), more);
    }
    for (const Work& each : open) {
      for (int again = 0; again < 3; ++again) ASSERT_EQ(asked->next(), std::nullopt);
      const auto objective = judge(asked->assignment(each.trial), asked->share(each.rung));
      asked->report(each, objective);
      left->report(each, objective);
      if (each != open.back()) {
        // The works that this result made available must come in the same order from both.
        if (const auto more = asked->next()) {
          ASSERT_EQ(left->next(), more);
          const auto result = judge(asked->assignment(more->trial), asked->share(more->rung));
          asked->report(*more, result);
          left->report(*more, result);
          while (const auto rest = asked->next()) {
            ASSERT_EQ(left->next(), rest);
            asked->report(*rest, 1.0);
            left->report(*rest, 1.0);
          }
        }
      }
    }
  }
  EXPECT_TRUE(asked->finished());
  EXPECT_TRUE(left->finished());
}

TEST_P(EveryStrategy, KeepsItsTrialsWithinTheSpace) {
  const auto strategy = made(entry());
  for (const auto& [trial, assignment] : carry_out(*strategy, 2, 1, judge).tried) {
    ASSERT_EQ(assignment.values.size(), mixed().size());
    for (std::size_t p = 0; p < mixed().size(); ++p) {
      const Parameter& parameter = mixed().parameters()[p];
      EXPECT_EQ(assignment.values[p].has_value(), mixed().active(p, assignment)) << parameter.key;
      if (!assignment.values[p]) continue;
      EXPECT_GE(*assignment.values[p], parameter.low);
      EXPECT_LE(*assignment.values[p], parameter.high);
      if (!parameter.continuous()) {
        EXPECT_EQ(std::fmod(*assignment.values[p] - parameter.low, parameter.step), 0) << parameter.key;
      }
    }
  }
}

TEST_P(EveryStrategy, FinishesWhenEveryTrialFails) {
  const auto strategy = made(entry());
  const Carried carried = carry_out(*strategy, 4, 1, always_fails);
  EXPECT_EQ(carried.tried.size(), strategy->trials());
  EXPECT_EQ(carried.works.size(), strategy->trials()) << "what failed goes on nowhere";
  EXPECT_TRUE(carried.stopped.empty()) << "they are failed, not stopped";
}

class EveryStrategyThatDraws : public EveryStrategy {};

TEST_P(EveryStrategyThatDraws, FinishesWithOneTrial) {
  const auto strategy = made(entry(), 1, 1);
  EXPECT_EQ(carry_out(*strategy, 4, 1, judge).tried.size(), 1U);
}

class EveryDeterministicStrategy : public EveryStrategy {};

TEST_P(EveryDeterministicStrategy, DependsOnNoOrderOfResults) {
  const Carried alone = carry_out(*made(entry()), 1, 0, judge);
  const std::set<Work> works(alone.works.begin(), alone.works.end());
  EXPECT_TRUE(rc::check([&] {
    const auto workers = static_cast<std::size_t>(*rc::gen::inRange(1, 9));
    const auto durations = *rc::gen::arbitrary<std::uint64_t>();
    const Carried carried = carry_out(*made(entry()), workers, durations, judge);
    RC_ASSERT(std::set<Work>(carried.works.begin(), carried.works.end()) == works);
    RC_ASSERT(carried.tried == alone.tried);
    RC_ASSERT(carried.stopped == alone.stopped);
    RC_ASSERT(carried.objectives == alone.objectives);
  }));
}

TEST_P(EveryStrategy, KnowsTrialsFromTheirNumberAloneWhereItSaysSo) {
  const auto strategy = made(entry());
  std::size_t handed_out = 0;
  while (strategy->next()) ++handed_out;
  if (entry().needs_results) {
    EXPECT_FALSE(strategy->finished());
    return;
  }
  EXPECT_EQ(handed_out, strategy->trials());
  const Carried carried = carry_out(*made(entry()), 2, 1, judge);
  for (const auto& [trial, assignment] : carried.tried) EXPECT_EQ(strategy->assignment(trial), assignment);
}

TEST_P(EveryStrategyThatDraws, DrawsOtherTrialsForOtherSeeds) {
  EXPECT_NE(carry_out(*made(entry(), 1), 1, 1, judge).tried, carry_out(*made(entry(), 2), 1, 1, judge).tried);
}

TEST_P(EveryStrategy, PlansAsManyBudgetsAsItSpendsIfNothingFails) {
  const auto strategy = made(entry());
  const auto good = [](const Assignment& assignment, double) -> std::optional<double> {
    return 1 + std::abs(std::sin(assignment.values[4].value_or(0)));
  };
  double spent = 0;
  std::map<std::size_t, double> share;
  for (const Work& work : carry_out(*strategy, 1, 1, good).works) {
    spent += strategy->share(work.rung) - share[work.trial];
    share[work.trial] = strategy->share(work.rung);
  }
  // An asynchronous strategy promotes by what it has seen so far, and so more than it would with all results at hand.
  if (entry().deterministic)
    EXPECT_NEAR(strategy->planned_budgets(), spent, 1e-9);
  else
    EXPECT_NEAR(strategy->planned_budgets(), spent, 0.5 * spent);
}

TEST_P(EveryStrategy, EchoesEveryOptionAndRefusesUnknownOnes) {
  const ConfigTable echo = entry().resolve(ConfigTable{});
  for (const OptionInfo& option : entry().options()) {
    EXPECT_TRUE(echo.contains(option.name) || option.default_value.empty()) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
  }
  ConfigTable unknown("test");
  unknown.set("no_such_option", {std::int64_t{1}, "test"});
  EXPECT_THROW(entry().resolve(unknown), InputError);
  EXPECT_FALSE(entry().summary.empty());
  EXPECT_FALSE(entry().reference.empty());
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategy, ::testing::Range<std::size_t>(0, sweep_strategies().size()),
                         test::name_of_strategy);
INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategyThatDraws, ::testing::ValuesIn(test::strategies_that_draw()),
                         test::name_of_strategy);
INSTANTIATE_TEST_SUITE_P(Strategies, EveryDeterministicStrategy,
                         ::testing::ValuesIn(test::strategies_where(&SweepStrategyEntry::deterministic)),
                         test::name_of_strategy);

}  // namespace
}  // namespace emplace::experiment::conformance_test
