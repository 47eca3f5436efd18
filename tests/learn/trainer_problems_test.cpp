// Which of a training's problems an update samples, and problems that are held out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "learn/trainer.hpp"
#include "tests/learn/recorded.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::trainer_problems_test {
namespace {

using namespace test;
using ::testing::ElementsAre;

TEST(ProblemsOfUpdate, AreAllOfThemUnlessFewerAreWanted) {
  EXPECT_THAT(problems_of_update(3, {}, 7), ElementsAre(0, 1, 2));
  EXPECT_THAT(problems_of_update(3, {.problems_per_update = 3}, 7), ElementsAre(0, 1, 2));
}

TEST(ProblemsOfUpdate, AreDrawnWithoutRepetitionAndAllAlike) {
  constexpr std::size_t count = 5, updates = 4000;
  const TrainerOptions options{.seed = 3, .problems_per_update = 2};
  std::map<std::vector<std::uint32_t>, std::size_t> times;
  for (std::uint64_t update = 1; update <= updates; ++update) {
    const auto drawn = problems_of_update(count, options, update);
    ASSERT_EQ(drawn.size(), 2U);
    ASSERT_LT(drawn[0], drawn[1]);
    ASSERT_LT(drawn[1], count);
    ++times[drawn];
  }
  EXPECT_EQ(times.size(), 10U) << "every pair of 5";
  // 400 of each are expected; six standard deviations are 6 sqrt(4000 x 0.1 x 0.9) = 114.
  for (const auto& [pair, number] : times) EXPECT_NEAR(static_cast<double>(number), 400, 114) << pair[0] << pair[1];
}

TEST(ProblemsOfUpdate, StayForAsManyUpdatesAsTheyAreHeld) {
  const TrainerOptions each{.seed = 3, .problems_per_update = 2},
      held{.seed = 3, .problems_per_update = 2, .hold_problems = 4};
  std::set<std::vector<std::uint32_t>> draws;
  for (std::uint64_t update = 1; update <= 40; ++update) {
    const std::uint64_t first = update - (update - 1) % 4;
    EXPECT_EQ(problems_of_update(6, held, update), problems_of_update(6, each, first)) << update;
    draws.insert(problems_of_update(6, held, update));
  }
  EXPECT_GT(draws.size(), 3U);
  EXPECT_NE(problems_of_update(6, {.seed = 4, .problems_per_update = 2}, 1), problems_of_update(6, each, 1))
      << "another seed draws others";
}

TEST(Trainer, SamplesTheProblemsOfEachUpdateWhateverCameBefore) {
  // Problem 0 has 2 rounds, problem 1 has 3, two samples of each.
  const TrainerOptions options{.problems_per_update = 1};
  Recorded whole_run(options);
  std::set<std::uint32_t> seen;
  State before;
  for (std::uint64_t update = 1; update <= 12; ++update) {
    before = whole_run.trainer.save();
    const std::uint32_t problem = problems_of_update(2, Recorded::seeded(options), update).front();
    seen.insert(problem);
    const std::uint64_t evaluations = problem == 0 ? 4 : 6;
    EXPECT_EQ(whole_run.trainer.evaluations_per_update(), evaluations);
    const std::uint64_t already = whole_run.trainer.evaluations();
    const UpdateReport report = whole_run.trainer.step();
    EXPECT_EQ(report.evaluations - already, evaluations);
    EXPECT_EQ(report.samples, evaluations);
    for (const policy::Rollout& rollout : whole_run.learner.rollouts) EXPECT_EQ(rollout.problem, problem);
  }
  EXPECT_THAT(seen, ElementsAre(0, 1));
  Recorded resumed(options);
  resumed.trainer.load(before);
  resumed.trainer.step();
  ASSERT_EQ(resumed.learner.rollouts.size(), whole_run.learner.rollouts.size());
  for (std::size_t i = 0; i < resumed.learner.rollouts.size(); ++i)
    EXPECT_EQ(resumed.learner.rollouts[i].actions, whole_run.learner.rollouts[i].actions);
}

TEST(Trainer, EvaluatesTheGreedySamplesOfAllProblemsWhateverAnUpdateIsAbout) {
  Recorded r({.greedy_every = 1, .problems_per_update = 1});
  const std::uint64_t wanted = r.trainer.evaluations_per_update();
  EXPECT_EQ(r.trainer.step().evaluations, wanted);
  EXPECT_EQ(std::ranges::count(r.policy.greedy, true), 5);
}

// A training on the problem of two rounds, the one of three is held out: the evaluator's problem 1.
struct HoldingOut {
  explicit HoldingOut(std::uint64_t every)
      : trainer(r.policy, r.learner, r.evaluator, std::span(r.list).first(1),
                {.seed = 11, .held_out = {{&r.list[1], &policy}}, .held_out_every = every}) {}
  Recorded r;
  RoundsPolicy policy{{&r.three}};
  Trainer trainer;
};

TEST(Trainer, PlacesHeldOutProblemsAfterEverySoManyUpdatesAndLearnsNothingFromThem) {
  // 2 samples of 2 rounds an update; after updates 2 and 4 three rounds more.
  HoldingOut h(2);
  for (const std::uint64_t evaluations : {4, 7, 4, 7}) {
    EXPECT_EQ(h.trainer.evaluations_per_update(), evaluations);
    const std::uint64_t before = h.trainer.evaluations();
    h.r.evaluator.problems.clear();
    const UpdateReport report = h.trainer.step();
    EXPECT_EQ(report.evaluations - before, evaluations);
    EXPECT_EQ(report.samples, 4U);
    EXPECT_EQ(h.r.learner.rollouts.size(), 4U);
    EXPECT_EQ(std::ranges::count(h.r.evaluator.problems, 1U), evaluations == 7 ? 3 : 0);
    ASSERT_EQ(report.held_out_seconds.size(), 1U);
    // The first of its rounds is the best: every evaluation is 1 ms slower than the one before.
    if (evaluations == 7)
      EXPECT_DOUBLE_EQ(report.held_out_seconds[0], static_cast<double>(before + 5) * 1e-3);
    else
      EXPECT_TRUE(std::isnan(report.held_out_seconds[0]));
  }
  EXPECT_THAT(h.policy.greedy, ElementsAre(true, true, true, true, true, true));
  EXPECT_THAT(h.policy.best, ::testing::Each(-1)) << "a held-out problem has no best placement from training";
  EXPECT_EQ(h.trainer.best().size(), 1U);
}

TEST(Trainer, DoesNotCountPlacementsOfHeldOutProblemsThatItIsAskedFor) {
  HoldingOut h(2);
  const std::vector<Best> placed = h.trainer.place_held_out();
  ASSERT_EQ(placed.size(), 1U);
  EXPECT_EQ(placed[0].evaluation, 3U);
  EXPECT_EQ(placed[0].outcome.makespan, 1 * ms);
  EXPECT_EQ(placed[0].placement.device.size(), 3U);
  EXPECT_EQ(h.trainer.evaluations(), 0U);
}

TEST(Trainer, ReportsAHeldOutProblemWithoutAFeasiblePlacementAsNone) {
  HoldingOut h(1);
  h.r.evaluator.script.assign(7, {.makespan = ms, .overflow = 1, .why = Infeasible::memory});
  EXPECT_TRUE(std::isnan(h.trainer.step().held_out_seconds[0]));
  EXPECT_FALSE(std::isnan(h.trainer.step().held_out_seconds[0]));
}

TEST(Trainer, GivesItsParametersToThePolicyForHeldOutProblems) {
  std::vector<Problem> problems;
  problems.push_back(chain_5(2));
  Training training(std::move(problems), "reinforce", {}, 1, Schedule::fifo, "chain");
  const auto policy = make_small_policy("chain", training.policy_problems, 1);
  std::vector<const Problem*> pointers(2, &training.problems.front());
  const auto evaluator = evaluate::make_local_evaluator(pointers, Schedule::fifo);
  Trainer trainer(*training.policy, *training.learner, *evaluator, training.policy_problems,
                  {.seed = 1, .held_out = {{&training.policy_problems.front(), policy.get()}}, .held_out_every = 3});
  const auto same = [&] { return std::ranges::equal(policy->parameters(), training.policy->parameters()); };
  trainer.step();
  EXPECT_FALSE(same());
  trainer.step();
  trainer.step();
  EXPECT_TRUE(same());
}

}  // namespace
}  // namespace emplace::learn::trainer_problems_test
