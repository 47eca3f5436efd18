// Trainings that end before their budget: at the lower bound, or because nothing better was found for long; and
// trainings that begin with a placement.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/files.hpp"
#include "emplace/experiment/train_recipe.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/search/bound.hpp"
#include "emplace/search/placer.hpp"
#include "emplace/source/load_problem.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/run/training.hpp"
#include "experiment/run/training_backend.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::early_end_test {
namespace {

using ::testing::HasSubstr;

class EarlyEnd : public ::testing::Test {
 protected:
  // One op that runs on two devices: the bound is its time on the faster one.
  std::string one_op() {
    write_file(folder_ / "one.json", R"({"emplace": "problem/1", "name": "one", "tensors": [],
      "devices": [{"name": "slow", "memory_bytes": null}, {"name": "fast", "memory_bytes": null}],
      "channels": [], "routes": [], "ops": [{"name": "a", "type": "op", "seconds": [2, 1]}]})");
    return folder_ / "one.json";
  }
  ConfigTable recipe(const std::string& problem, std::vector<std::pair<std::string, ConfigValue>> more) {
    ConfigTable table("test");
    table.set("problem", {problem, "test"});
    table.set("run", {folder_ / "run", "test"});
    table.set("updates", {std::int64_t{40}, "test"});
    apply_values(table, std::move(more));
    return table;
  }
  // Two chains that exchange nothing, so that the best of two devices is half of one of them, and no bound is reached
  // by one device.
  static std::string two_branches() { return "configs/problems/two-branches.json"; }

  test::TemporaryFolder folder_;
};

TEST_F(EarlyEnd, IsAtTheLowerBoundIfTheRecipeSaysSo) {
  const TrainedRecipe whole = train_recipe(recipe(one_op(), {}), nullptr, {}, {.resume = false});
  const TrainedRecipe early =
      train_recipe(recipe(one_op(), {{"stop_at_bound", {true, "test"}}}), nullptr, {}, {.resume = false});
  EXPECT_EQ(whole.updates, 40U);
  EXPECT_LT(early.updates, 40U);
  EXPECT_TRUE(early.finished);
  EXPECT_EQ(early.best.front()->outcome.makespan, ticks_per_second);
}

TEST_F(EarlyEnd, IsAfterThePatienceWithoutABetterPlacement) {
  const TrainedRecipe early =
      train_recipe(recipe(one_op(), {{"patience", {std::int64_t{5}, "test"}}}), nullptr, {}, {.resume = false});
  EXPECT_TRUE(early.finished);
  // The best placement is among the 20 samples of the first update (but for one case in a million).
  EXPECT_EQ(early.updates, 6U);
}

TEST_F(EarlyEnd, IsAtTheSameUpdateAfterAResume) {
  const auto with_patience = [&](std::int64_t updates) {
    return recipe(two_branches(), {{"patience", {std::int64_t{7}, "test"}}, {"updates", {updates, "test"}}});
  };
  const TrainedRecipe undisturbed = train_recipe(with_patience(1000), nullptr, {}, {.resume = false});
  ASSERT_LT(undisturbed.updates, 1000U);
  std::uint64_t updates = 0;
  (void)train_recipe(with_patience(1000), nullptr, {.stop = [&] { return ++updates > undisturbed.updates / 2; }},
                     {.resume = false});
  EXPECT_EQ(train_recipe(with_patience(1000)).updates, undisturbed.updates);
}

TEST_F(EarlyEnd, DoesNotCountAnInfeasiblePlacementAsAtTheBound) {
  write_file(folder_ / "full.json", R"({"emplace": "problem/1", "name": "full", "tensors": [],
    "devices": [{"name": "a", "memory_bytes": 10}], "channels": [], "routes": [],
    "ops": [{"name": "x", "type": "op", "seconds": [1], "resident_bytes": 20}]})");
  const TrainedRecipe whole =
      train_recipe(recipe(folder_ / "full.json", {{"stop_at_bound", {true, "test"}}}), nullptr, {}, {.resume = false});
  EXPECT_EQ(whole.updates, 40U);
}

TEST_F(EarlyEnd, OfMeasuredTimesHasNoBound) {
  try {
    (void)make_recipe(recipe(two_branches(), {{"stop_at_bound", {true, "test"}},
                                              {"evaluator", {"command", "test"}},
                                              {"command.run", {ConfigList{{"true", "test"}}, "test"}}}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("measured times have no lower bound"));
  }
}

class Start : public EarlyEnd {
 protected:
  // The file of a placement of two-branches by `method`, and its time.
  Ticks write_start(const std::string& method, const std::string& schedule = "fifo") {
    const Problem problem = source::load_problem(two_branches(), {}).problem;
    search::PlacerRequest request;
    request.problem = &problem;
    const evaluate::Scoring scoring{schedule == "fifo" ? Schedule::fifo : Schedule::priority, Objective::step};
    request.schedule = scoring.schedule;
    const auto evaluator = evaluate::make_local_evaluator(std::vector<const Problem*>{&problem}, scoring);
    request.evaluator = evaluator.get();
    request.evaluations = 2000;
    const search::PlacerResult found = search::place_with(method, request, ConfigTable("test"));
    write_file(folder_ / "start.json", formats::write_placement_json(problem, found.placement, scoring.schedule));
    return found.outcome.makespan;
  }
};

TEST_F(Start, IsTheBestPlacementUntilABetterOneIsFound) {
  const Ticks start = write_start("best");
  const TrainedRecipe trained = train_recipe(
      recipe(two_branches(), {{"start", {folder_ / "start.json", "test"}}, {"updates", {std::int64_t{1}, "test"}}}),
      nullptr, {}, {.resume = false});
  EXPECT_LE(trained.best.front()->outcome.makespan, start);
  EXPECT_EQ(trained.evaluations, 21U);
}

TEST_F(Start, CountsForPatience) {
  (void)write_start("best");
  const TrainedRecipe trained = train_recipe(
      recipe(two_branches(), {{"start", {folder_ / "start.json", "test"}}, {"patience", {std::int64_t{3}, "test"}}}),
      nullptr, {}, {.resume = false});
  EXPECT_EQ(trained.updates, 3U);
}

TEST_F(Start, IsNotReadAgainByATrainingThatGoesOn) {
  (void)write_start("best");
  const auto with_start = [&](std::int64_t updates) {
    return recipe(two_branches(), {{"start", {folder_ / "start.json", "test"}}, {"updates", {updates, "test"}}});
  };
  const TrainedRecipe whole = train_recipe(with_start(6), nullptr, {}, {.resume = false});
  (void)train_recipe(with_start(3), nullptr, {}, {.resume = false});
  ASSERT_TRUE(std::filesystem::remove(folder_ / "start.json"));
  Training training(make_recipe([&] {
                      ConfigTable config = RunFolder::config_of(folder_ / "run");
                      config.set("updates", {std::int64_t{6}, "test"});
                      return config;
                    }()),
                    true);
  const RunFolder folder = RunFolder::open(folder_ / "run");
  const TrainingBackend backend = make_training_backend(nullptr, training, folder);
  Training::Session session = backend.session();
  session.resume = true;
  session.show_progress = false;
  (void)training.run(folder, session);
  EXPECT_EQ(training.best().front().outcome.makespan, whole.best.front()->outcome.makespan);
  EXPECT_EQ(training.evaluations(), whole.evaluations);
}

TEST_F(Start, OfAnotherProblemIsRefused) {
  (void)write_start("single");
  EXPECT_THROW((void)train_recipe(recipe(one_op(), {{"start", {folder_ / "start.json", "test"}}}), nullptr, {},
                                  {.resume = false}),
               InputError);
}

TEST_F(Start, WithoutAnOrderIsRefusedWhereTheScheduleNeedsOne) {
  (void)write_start("single");
  try {
    (void)train_recipe(
        recipe(two_branches(), {{"start", {folder_ / "start.json", "test"}}, {"schedule", {"in-order", "test"}}}),
        nullptr, {}, {.resume = false});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no order, which the schedule 'in-order' needs"));
  }
}

}  // namespace
}  // namespace emplace::experiment::early_end_test
