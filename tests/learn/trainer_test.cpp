#include "learn/trainer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/not_finite.hpp"
#include "emplace/base/error.hpp"
#include "problem/order.hpp"
#include "tests/learn/recorded.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::trainer_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Trainer, EvaluatesEachRoundBeforeTheNextAndEndsShortSamplesEarly) {
  // Two samples of a problem with 2 rounds, two of one with 3: 4, 4, 2 evaluations.
  Recorded r;
  EXPECT_EQ(r.trainer.evaluations_per_update(), 10u);
  const UpdateReport report = r.trainer.step();
  EXPECT_THAT(r.evaluator.batches, ElementsAre(4, 4, 2));
  EXPECT_THAT(r.evaluator.problems, ElementsAre(0, 0, 1, 1, 0, 0, 1, 1, 1, 1));
  EXPECT_EQ(report.samples, 10u);
  EXPECT_EQ(report.evaluations, 10u);
}

TEST(Trainer, GivesTheLearnerRolloutsSampleBySample) {
  Recorded r;
  r.trainer.step();
  std::vector<std::uint32_t> problems, samples, rounds;
  std::vector<Ticks> times;
  for (const policy::Rollout& rollout : r.learner.rollouts) {
    problems.push_back(rollout.problem);
    samples.push_back(rollout.sample);
    rounds.push_back(rollout.round);
    times.push_back(rollout.outcome.makespan / ms);
  }
  EXPECT_THAT(problems, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(samples, ElementsAre(0, 0, 1, 1, 2, 2, 2, 3, 3, 3));
  EXPECT_THAT(rounds, ElementsAre(0, 1, 0, 1, 0, 1, 2, 0, 1, 2));
  // Round 0 is evaluations 1-4, round 1 is 5-8, round 2 is 9-10.
  EXPECT_THAT(times, ElementsAre(1, 5, 2, 6, 3, 7, 9, 4, 8, 10));
}

TEST(Trainer, KeysStreamsBySeedUpdateAndSample) {
  Recorded r;
  for (std::uint64_t update = 1; update <= 2; ++update) {
    r.trainer.step();
    for (const policy::Rollout& rollout : r.learner.rollouts) {
      if (rollout.round != 0) continue;
      Stream expected{{.seed = 11, .purpose = Purpose::sample_placement, .update = update, .index = rollout.sample}};
      EXPECT_EQ(rollout.actions.front(), expected.below(200));
    }
  }
}

TEST(Trainer, EvaluatesGreedySamplesThatTeachNothingWhenTheyAreDue) {
  // One greedy sample of each problem, 2 + 3 rounds, before updates 1, 3, 5: evaluations 15, 10, 15.
  Recorded r({.greedy_every = 2});
  for (const std::uint64_t evaluations : {15, 10, 15}) {
    r.policy.greedy.clear();
    EXPECT_EQ(r.trainer.evaluations_per_update(), evaluations);
    const std::uint64_t before = r.trainer.evaluations();
    const UpdateReport report = r.trainer.step();
    EXPECT_EQ(report.evaluations - before, evaluations);
    EXPECT_EQ(report.samples, 10U);
    EXPECT_EQ(r.learner.rollouts.size(), 10U);
    EXPECT_EQ(std::ranges::count(r.policy.greedy, true), evaluations == 15 ? 5 : 0);
    // The first problem's two greedy rounds are evaluations 1 and 3 of the step; the last one counts.
    if (evaluations == 15)
      EXPECT_DOUBLE_EQ(report.greedy_seconds, static_cast<double>(before + 3) * 1e-3);
    else
      EXPECT_TRUE(std::isnan(report.greedy_seconds));
  }
}

TEST(Trainer, TellsPoliciesTheBestSoFarOfTheirProblem) {
  Recorded r;
  r.trainer.step();
  EXPECT_THAT(r.policy.best, ::testing::Each(-1)) << "nothing is known before the first update";
  r.policy.best.clear();
  r.trainer.step();
  EXPECT_THAT(r.policy.best, ElementsAre(2, 2, 3, 3, 2, 2, 3, 3, 3, 3)) << "the numbers of ops of the two problems";
}

TEST(Trainer, ReportsMeanAndBestOfTheFeasible) {
  Recorded r;
  const UpdateReport report = r.trainer.step();
  EXPECT_DOUBLE_EQ(report.mean_seconds, 5.5e-3);
  EXPECT_DOUBLE_EQ(report.best_seconds, 1e-3);
  EXPECT_EQ(report.feasible_share, 1);
  EXPECT_EQ(report.update, 1u);
  // Of 1, 2, ... 10 ms the ranks ceil(0.1 * 10), ceil(0.5 * 10) and ceil(0.9 * 10).
  EXPECT_THAT(report.quantile_seconds, ElementsAre(1e-3, 5e-3, 9e-3));
}

TEST(Trainer, RemembersTheBestOfEachProblemAndItsNumber) {
  Recorded r;
  r.trainer.step();
  r.trainer.step();
  EXPECT_EQ(r.trainer.best()[0].outcome.makespan, 1 * ms);
  EXPECT_EQ(r.trainer.best()[0].evaluation, 1u);
  EXPECT_EQ(r.trainer.best()[1].outcome.makespan, 3 * ms);
  EXPECT_EQ(r.trainer.best()[1].evaluation, 3u);
}

TEST(Trainer, TakesAPlacementOnlyIfItIsBetter) {
  // The first problem's: evaluations 1, 2 (first rounds) and 5, 6 (second rounds) of an update.
  const auto best_after = [&](Outcome first, Outcome second, Outcome third, Outcome fourth) {
    Recorded fresh;
    fresh.evaluator.script.assign(10, {.makespan = 90 * ms});
    fresh.evaluator.script[0] = first;
    fresh.evaluator.script[1] = second;
    fresh.evaluator.script[4] = third;
    fresh.evaluator.script[5] = fourth;
    fresh.trainer.step();
    return fresh.trainer.best()[0].evaluation;
  };
  const Outcome slow{.makespan = 2 * ms}, fast{.makespan = 1 * ms};
  const Outcome wrong{.makespan = ms / 2, .overflow = 1, .why = Infeasible::memory};
  EXPECT_EQ(best_after(slow, slow, slow, slow), 1U) << "the first of equals stays";
  EXPECT_EQ(best_after(slow, wrong, slow, fast), 6U);
  EXPECT_EQ(best_after(slow, fast, wrong, slow), 2U) << "infeasible is never better";
  EXPECT_EQ(best_after(wrong, wrong, slow, slow), 5U);
}

TEST(Trainer, OrdersOpsByUpwardRankWhereTheScheduleNeedsIt) {
  Recorded fifo;
  fifo.trainer.step();
  for (const auto& order : fifo.evaluator.orders) EXPECT_TRUE(order.empty());
  Recorded in_order({.schedule = Schedule::in_order});
  in_order.trainer.step();
  for (std::size_t i = 0; i < in_order.evaluator.orders.size(); ++i)
    if (in_order.evaluator.problems[i] == 1) {
      EXPECT_THAT(in_order.evaluator.orders[i], ElementsAre(0, 2, 1)) << "c (5) before b (1)";
    }
}

TEST(Trainer, TrainsUnderEverySchedule) {
  for (const Schedule schedule : {Schedule::fifo, Schedule::priority, Schedule::in_order}) {
    std::vector<Problem> problems;
    problems.push_back(two_chains(1));
    Training training(std::move(problems), "post", {}, 1, schedule);
    EXPECT_EQ(training.run(), 40 * ms);
    EXPECT_LE(training.likeliest().outcome.makespan, 43 * ms) << "see Post.NearlySolvesTwoChains";
    EXPECT_EQ(training.trainer->best()[0].placement.order.empty(), schedule == Schedule::fifo);
  }
}

TEST(Trainer, NamesTheUpdateWhoseNumbersAreNotFinite) {
  std::vector<Problem> problems;
  problems.push_back(chain_5(2));
  Training training(std::move(problems), "reinforce", {}, 1, Schedule::fifo, "chain");
  training.trainer->step();
  training.trainer->step();
  const std::vector<float> good(training.policy->parameters().begin(), training.policy->parameters().end());
  const State learned = training.learner->save();
  // Rewards of about 1e43 make the third update's gradient more than a float can hold.
  const ConfigTable options = table({{"reward", text("time")}, {"time_unit", number(1e-45)}});
  const auto reckless = find_entry(learners(), "reinforce", "learner").make(options, {training.policy_problems});
  reckless->load(learned, *training.policy);
  Trainer trainer(*training.policy, *reckless, *training.evaluator, training.policy_problems, {.seed = 1});
  trainer.load(training.trainer->save());
  try {
    trainer.step();
    FAIL();
  } catch (const NotFinite& error) {
    EXPECT_THAT(error.what(), HasSubstr("update 3: "));
    EXPECT_THAT(error.what(), HasSubstr("learning rate"));
  }
  EXPECT_EQ(good, std::vector<float>(training.policy->parameters().begin(), training.policy->parameters().end()));
  EXPECT_EQ(trainer.updates(), 2u);
}

TEST(Trainer, RefusesAStateThatDoesNotFitTheProblem) {
  Recorded r({.schedule = Schedule::in_order});
  r.trainer.step();
  const State good = r.trainer.save();
  const auto refusal = [&](auto&& damage) {
    State state = good;
    damage(state);
    try {
      Recorded({.schedule = Schedule::in_order}).trainer.load(state);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(refusal([](State&) {}), "no error");
  EXPECT_THAT(refusal([](State& s) { s.erase("updates"); }), HasSubstr("updates is missing"));
  EXPECT_THAT(refusal([](State& s) { put(s, "best.0.device", std::vector<std::uint8_t>{0}); }), HasSubstr("has 1 ops"));
  EXPECT_THAT(refusal([](State& s) {
                put(s, "best.0.device", std::vector<std::uint8_t>{0, 9});
              }),
              HasSubstr("device 9"));
  EXPECT_THAT(refusal([](State& s) { put(s, "best.0.order", std::vector<std::int64_t>{0, -1}); }), HasSubstr("op -1"));
  EXPECT_THAT(refusal([](State& s) {
                put(s, "best.0.order", std::vector<std::int64_t>{1, 0});
              }),
              HasSubstr("before its producer"));
  EXPECT_THAT(refusal([](State& s) {
                put(s, "best.0.outcome", std::vector<std::int64_t>{1, 0, 77, 0, 0});
              }),
              HasSubstr("77"));
}

}  // namespace
}  // namespace emplace::learn::trainer_test
