#include "learn/trainer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/not_finite.hpp"
#include "emplace/base/error.hpp"
#include "problem/order.hpp"
#include "tests/learn/training.hpp"
#include "tests/policy/stub_policy.hpp"

namespace emplace::learn::trainer_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Records its jobs and returns the outcomes of its script; after those, evaluation n takes n ms.
class RecordingEvaluator final : public evaluate::DirectEvaluator {
 public:
  std::vector<Outcome> evaluate_now(std::span<const evaluate::EvaluationJob> jobs) override {
    batches.push_back(jobs.size());
    std::vector<Outcome> outcomes;
    for (const evaluate::EvaluationJob& job : jobs) {
      problems.push_back(job.problem);
      orders.push_back(job.placement->order);
      ++count;
      const auto next = static_cast<std::size_t>(count) - 1;
      outcomes.push_back(next < script.size() ? script[next] : Outcome{.makespan = count * ms});
    }
    return outcomes;
  }
  std::vector<Outcome> script;
  std::int64_t count = 0;
  std::vector<std::size_t> batches;
  std::vector<std::uint32_t> problems;
  std::vector<std::vector<std::uint32_t>> orders;
};

// Everything on device (round); as many rounds as the problem has ops. Checks what it gets of earlier rounds.
class RoundsPolicy final : public StubPolicy {
 public:
  explicit RoundsPolicy(std::vector<const Problem*> problems) : problems_(std::move(problems)) {}
  void sample(std::span<const policy::SampleSlot> slots) const override {
    for (const policy::SampleSlot& slot : slots) {
      policy::Rollout& now = slot.rounds.back();
      greedy.push_back(slot.greedy);
      best.push_back(slot.best == nullptr ? -1 : static_cast<int>(slot.best->device.size()));
      EXPECT_EQ(now.round + 1, slot.rounds.size());
      for (std::size_t r = 0; r + 1 < slot.rounds.size(); ++r) {
        EXPECT_EQ(slot.rounds[r].round, r);
        EXPECT_EQ(slot.rounds[r].sample, now.sample);
        EXPECT_TRUE(slot.rounds[r].outcome.timed());
      }
      now.actions = {static_cast<std::uint8_t>(slot.stream->below(200))};
      now.placement.device.assign(problems_[now.problem]->op_count(), static_cast<std::uint8_t>(now.round % 2));
    }
  }
  [[nodiscard]] std::size_t rounds(std::uint32_t p) const override { return problems_[p]->op_count(); }

  mutable std::vector<bool> greedy;  // of each draw
  mutable std::vector<int> best;     // ops of the best placement that each draw got, or -1

 private:
  std::vector<const Problem*> problems_;
};

class RecordingLearner final : public Learner {
 public:
  [[nodiscard]] std::size_t samples_per_update() const override { return 2; }
  [[nodiscard]] std::uint64_t default_updates() const override { return 1; }
  void use(LearnerWorkers*) override {}
  std::map<std::string, double> update(policy::Policy&, std::span<const policy::Rollout> list) override {
    rollouts.assign(list.begin(), list.end());
    return {};
  }
  [[nodiscard]] State save() const override { return {}; }
  void load(const State&, const policy::Policy&) override {}
  std::vector<policy::Rollout> rollouts;
};

struct Recorded {
  explicit Recorded(TrainerOptions options = {}) : trainer(policy, learner, evaluator, list, seeded(options)) {}
  static TrainerOptions seeded(TrainerOptions options) {
    options.seed = 11;
    return options;
  }
  Problem two = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}}, {{0, 1}});
  Problem three = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}, {"c", {5, 5}}}, {{0, 1}, {0, 2}});
  std::vector<policy::PolicyProblem> list = {{&two, make_grouping(two, GroupingKind::op)},
                                             {&three, make_grouping(three, GroupingKind::op)}};
  RoundsPolicy policy{{&two, &three}};
  RecordingLearner learner;
  RecordingEvaluator evaluator;
  Trainer trainer;
};

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
