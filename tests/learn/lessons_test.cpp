// What a training learns from besides its own samples: polished ones and demonstrations.
#include "learn/lessons.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"
#include "learn/sampling.hpp"
#include "tests/learn/recorded.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::lessons_test {
namespace {

using namespace test;
using ::testing::ElementsAre;

TEST(OnUnits, PutsEachUnitWhereItHasMostWorkOfTheDevicesThatCanRunIt) {
  // Unit {a, b}: 3 ms on device 0 and 5 ms on device 1. Unit {c, d}: 6 ms on device 1, but d only runs on device 0.
  const Problem problem =
      tiny(plain_devices(2), {{"a", {3, 3}}, {"b", {5, 5}}, {"c", {6, 6}}, {"d", {1, no}}}, {{0, 1}, {1, 2}, {2, 3}});
  const std::vector<std::uint32_t> labels = {0, 0, 1, 1};
  const Placement placed = on_units(problem, group_by(problem, labels), {{0, 1, 1, 0}, {}});
  EXPECT_THAT(placed.device, ElementsAre(1, 1, 0, 0));
}

// A training whose samples are polished and that begins at demonstrations.
struct Taught : Training {
  Taught(const std::string& learner, const std::string& policy, TrainerOptions options, ConfigTable of_learner = {})
      : Training(chain_5(2), learner, of_learner, 1, policy) {
    for (const Problem& problem : problems) pointers.push_back(&problem);
    pool = search::make_local_polish_pool(pointers, Schedule::fifo);
    options.seed = 1;
    options.budget_used = budget_of(20);
    options.polish_pool = pool.get();
    trainer = std::make_unique<Trainer>(*this->policy, *this->learner, *evaluator, policy_problems, options);
  }
  std::vector<const Problem*> pointers;
  std::unique_ptr<search::PolishPool> pool;
};

TrainerOptions polishing() {
  TrainerOptions options;
  options.polish = {.samples = 2, .moves = 30, .share = 0.5, .share_begin = 0.5};
  return options;
}

TEST(TaughtSamples, EvaluateOnlyPlacementsWhoseOutcomeIsNotKnown) {
  Taught t("post", "post", polishing());
  std::vector<policy::Rollout> drawn;
  sample_rollouts(*t.policy, *t.evaluator, t.policy_problems, {.seed = 1, .samples = 1}, drawn);
  const Outcome known{.makespan = 77 * ms};
  const Lesson lesson{drawn, {{1, 0, 1, 0, 1}, {}}, known};
  std::size_t evaluated = 0;
  const auto count = [&](const policy::Rollout&) { ++evaluated; };
  auto taught = taught_samples(*t.policy, *t.evaluator, t.policy_problems, Schedule::fifo, {&lesson, 1}, count);
  ASSERT_EQ(taught.size(), 1U);
  EXPECT_THAT(taught.front().actions, ElementsAre(1, 0, 1, 0, 1));
  EXPECT_EQ(taught.front().outcome, known);
  EXPECT_EQ(evaluated, 0U);
  // Under in-order a sample has the order of upward ranks, which this placement does not have.
  taught = taught_samples(*t.policy, *t.evaluator, t.policy_problems, Schedule::in_order, {&lesson, 1}, count);
  EXPECT_EQ(evaluated, 1U);
  EXPECT_EQ(taught.front().placement.order.size(), 5U);
  EXPECT_NE(taught.front().outcome, known);
}

TEST(Trainer, PolishesWhenMovesFitInTheirShareOfTheEvaluations) {
  // 20 samples an update allow as many moves with a share of a half; two samples cost up to 60, so the third update is
  // the first that polishes.
  Taught t("post", "post", polishing());
  std::vector<std::size_t> polished;
  std::uint64_t moves = 0;
  for (int update = 1; update <= 9; ++update) {
    const UpdateReport report = t.trainer->step();
    polished.push_back(report.polish.samples);
    moves += report.polish.evaluations;
    EXPECT_LE(moves, 20U * static_cast<unsigned>(update));
    EXPECT_EQ(report.evaluations, 20U * static_cast<unsigned>(update) + moves);
    if (report.polish.samples > 0) {
      EXPECT_GE(report.polish.gain, 0);
    }
  }
  EXPECT_THAT(std::span(polished).first(3), ElementsAre(0, 0, 2));
  EXPECT_GT(std::ranges::count(polished, 2U), 1);
}

// Polishes as `of` does, and keeps where it began.
struct Recording final : search::PolishPool {
  explicit Recording(search::PolishPool& pool) : of(pool) {}
  std::vector<search::PolishResult> run(std::span<const search::PolishJob> jobs) override {
    for (const search::PolishJob& job : jobs) starts.push_back(job.start.device);
    return of.run(jobs);
  }
  search::PolishPool& of;
  std::vector<std::vector<std::uint8_t>> starts;
};

// How many of the placements that were polished in 60 updates were the best so far, and how many were not.
std::pair<std::size_t, std::size_t> polished_best_and_others(int samples) {
  Taught t("reinforce", "colocrl", polishing(), ConfigTable::parse_toml("samples_per_update = 2", "test"));
  Recording pool(*t.pool);
  TrainerOptions options = polishing();
  options.polish = {.samples = samples, .moves = 2, .share = 0.6, .share_begin = 0.6};
  options.budget_used = budget_of(60);
  options.polish_pool = &pool;
  Trainer trainer(*t.policy, *t.learner, *t.evaluator, t.policy_problems, options);
  std::size_t best = 0, others = 0;
  for (int update = 1; update <= 60; ++update) {
    pool.starts.clear();
    trainer.step();
    for (const auto& start : pool.starts) (start == trainer.best().front().placement.device ? best : others) += 1;
  }
  return {best, others};
}

TEST(Trainer, PolishesTheBestOfABatchAndTheBestSoFarInTurnWhereItPolishesOne) {
  const auto [best, others] = polished_best_and_others(1);
  EXPECT_GT(best, 10U);
  EXPECT_GT(others, 5U) << "of about 30 batches, half of which had their turn";
  const auto [of_two, second] = polished_best_and_others(2);
  EXPECT_NEAR(static_cast<double>(of_two), static_cast<double>(second), 10) << "the best so far is always one of two";
}

TEST(Trainer, PolishesNothingThatItsBudgetDoesNotAllow) {
  TrainerOptions options = polishing();
  options.may_begin = [](std::uint64_t, std::uint64_t evaluations) { return evaluations <= 100; };
  Taught t("post", "post", options);
  for (int update = 1; update <= 5; ++update) EXPECT_EQ(t.trainer->step().polish.samples, 0U) << update;
  EXPECT_EQ(t.trainer->evaluations(), 100U);
}

TEST(Trainer, IsNeverWorseThanWhatItBeginsAt) {
  // The second placement is the optimum, which the training draws soon too: so it is the number of the evaluation that
  // says whether the training knew it from the beginning.
  TrainerOptions options;
  options.demonstrations_share = 0.5;
  Taught t("post", "post", options);
  t.trainer->begin_at(0, {{0, 0, 0, 0, 0}, {}});
  t.trainer->begin_at(0, {{0, 1, 1, 1, 0}, {}});
  t.trainer->end_of_beginning();
  EXPECT_EQ(t.trainer->evaluations(), 2U);
  for (int update = 0; update <= 5; ++update) {
    const Best& best = t.trainer->best().front();
    EXPECT_EQ(best.outcome.makespan, 20 * ms) << update;
    EXPECT_EQ(best.evaluation, 2U) << update;
    EXPECT_THAT(best.placement.device, ElementsAre(0, 1, 1, 1, 0)) << update;
    t.trainer->step();
  }
}

// Records the step times of what it is taught, ms, and learns nothing.
class Pupil final : public RecordingLearner {
 public:
  [[nodiscard]] bool can_be_taught() const override { return true; }
  void teach(std::span<const policy::Rollout> sample) override {
    taught.push_back(sample.back().outcome.makespan / ms);
  }
  std::vector<Ticks> taught;
};

TEST(Trainer, ShowsDemonstrationsInTurnAndFewerAndFewerOfThem) {
  // With half of 20 updates and three demonstrations: of 3 a share of 1, 0.9, 0.8, 0.7, rounded up, is all three; of
  // 0.6, 0.5, 0.4 the best two; of 0.3, 0.2, 0.1 the best one; none from update 11 on. Update u shows number (u - 1)
  // mod 3, 2 or 1 of these, the best first.
  Taught t("post", "post", {});
  Pupil pupil;
  TrainerOptions options{.seed = 1, .budget_used = budget_of(20)};
  options.demonstrations_share = 0.5;
  Trainer trainer(*t.policy, pupil, *t.evaluator, t.policy_problems, options);
  trainer.begin_at(0, {{0, 0, 0, 0, 0}, {}});  // 4 + 6 + 8 + 6 + 4 = 28
  trainer.begin_at(0, {{0, 1, 0, 1, 0}, {}});  // 4 + 3 + 8 + 3 + 4 and four transfers of 2: 30
  trainer.begin_at(0, {{1, 1, 1, 1, 1}, {}});  // 8 + 3 + 2 + 3 + 8 = 24
  trainer.end_of_beginning();
  for (int update = 1; update <= 12; ++update) EXPECT_EQ(trainer.step().taught, update <= 10 ? 1U : 0U) << update;
  EXPECT_THAT(pupil.taught, ElementsAre(24, 28, 30, 24, 24, 28, 24, 24, 24, 24));
}

TEST(Trainer, PolishesWhatItBeginsAt) {
  TrainerOptions options = polishing();
  options.demonstrations_share = 0.5;
  Taught t("post", "post", options);
  t.trainer->begin_at(0, {{0, 1, 0, 1, 0}, {}});
  const Outcome start = t.trainer->best().front().outcome;
  t.trainer->end_of_beginning();
  EXPECT_TRUE(better(t.trainer->best().front().outcome, start));
}

class EveryLearnerAndPolicy : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  [[nodiscard]] std::unique_ptr<Taught> taught() const {
    const auto [learner, policy] = GetParam();
    ConfigTable options("test");
    for (const LearnerEntry& entry : learners())
      if (entry.name == learner)
        for (const OptionInfo& option : entry.options()) {
          if (option.name == "keep_best") options.set(option.name, flag(true));
          if (option.name == "fit_steps") options.set(option.name, whole(5));
        }
    TrainerOptions trainer = polishing();
    trainer.demonstrations_share = 0.3;
    return std::make_unique<Taught>(learner, policy, trainer, options);
  }
};

// Episodes cannot express other placements, but theirs are polished too.
TEST_P(EveryLearnerAndPolicy, ContinuesToTheSameBitsAfterSaveAndLoad) {
  const auto whole_run = taught();
  whole_run->trainer->begin_at(0, {{0, 1, 0, 1, 0}, {}});
  whole_run->trainer->end_of_beginning();
  std::size_t polished = 0, shown = 0;
  struct Moment {
    std::vector<float> parameters;
    State learner, trainer;
  };
  std::vector<Moment> moments;
  const auto parameters = [](const Taught& t) {
    return std::vector<float>(t.policy->parameters().begin(), t.policy->parameters().end());
  };
  for (int update = 0; update <= 12; ++update) {
    moments.push_back({parameters(*whole_run), whole_run->learner->save(), whole_run->trainer->save()});
    const UpdateReport report = whole_run->trainer->step();
    polished += report.polish.samples;
    shown += report.taught;
  }
  EXPECT_GT(polished, 0U);
  EXPECT_EQ(shown > 0, std::get<1>(GetParam()) != std::string("episode"));
  for (const std::size_t stop : {0UL, 1UL, 4UL}) {
    const auto resumed = taught();
    std::ranges::copy(moments[stop].parameters, resumed->policy->parameters().begin());
    resumed->policy->parameters_changed();
    resumed->learner->load(moments[stop].learner, *resumed->policy);
    resumed->trainer->load(moments[stop].trainer);
    EXPECT_EQ(resumed->trainer->save(), moments[stop].trainer);
    for (std::size_t update = stop; update < 12; ++update) resumed->trainer->step();
    EXPECT_EQ(parameters(*resumed), moments[12].parameters) << stop;
    EXPECT_EQ(resumed->learner->save(), moments[12].learner) << stop;
    EXPECT_EQ(resumed->trainer->save(), moments[12].trainer) << stop;
  }
}

INSTANTIATE_TEST_SUITE_P(Learners, EveryLearnerAndPolicy,
                         ::testing::Combine(::testing::Values("reinforce", "ppo", "post", "cross-entropy"),
                                            ::testing::Values("post", "gdp", "episode")));

TEST(KeepBest, OfReinforceNeedsOneControllerAndFinalReturns) {
  const auto made = [](ConfigTable options) {
    options.set("keep_best", flag(true));
    return find_entry(learners(), "reinforce", "learner").resolve(options);
  };
  EXPECT_NO_THROW(made(ConfigTable("test")));
  EXPECT_THROW(made(table({{"controllers", whole(2)}})), InputError);
  EXPECT_THROW(made(table({{"asynchronous", flag(true)}})), InputError);
  EXPECT_THROW(made(table({{"returns", text("step")}})), InputError);
}

TEST(Trainer, PolishesProblemsOfOneOpAndWithoutChoice) {
  for (Problem problem : {tiny(plain_devices(2), {{"a", {2, 1}}}, {}), tiny(plain_devices(2), {{"a", {no, 1}}}, {}),
                          tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}, {"c", {1, 1}}}, {})}) {
    Training t(std::move(problem), "post");
    const Problem* const list[] = {&t.problems.front()};
    const auto pool = search::make_local_polish_pool(list, Schedule::fifo);
    TrainerOptions options = polishing();
    options.polish_pool = pool.get();
    options.demonstrations_share = 0.5;
    Trainer trainer(*t.policy, *t.learner, *t.evaluator, t.policy_problems, options);
    trainer.end_of_beginning();
    for (int update = 0; update < 8; ++update) trainer.step();
    EXPECT_TRUE(trainer.best().front().outcome.feasible());
  }
}

}  // namespace
}  // namespace emplace::learn::lessons_test
