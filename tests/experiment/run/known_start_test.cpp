// Trainings that know the quick placers' answers, and what the run that they start from places, before their first
// update.
#include <gmock/gmock.h>

#include <limits>

#include "base/files.hpp"
#include "emplace/experiment/train_recipe.hpp"
#include "emplace/source/load_problem.hpp"
#include "experiment/recipe/recipe.hpp"
#include "tests/support/temporary_folder.hpp"
#include "verdict/references.hpp"

namespace emplace::experiment::known_start_test {
namespace {

ConfigValue value(auto given) { return {given, "test"}; }

class KnownStart : public ::testing::Test {
 protected:
  using Values = std::vector<std::pair<std::string, ConfigValue>>;
  ConfigTable recipe(Values more) {
    ConfigTable table("test");
    table.set("problem", value(std::string(problem_)));
    table.set("run", value(folder_ / "run"));
    table.set("grouping", value(std::string("chain")));
    table.set("updates", value(std::int64_t{3}));
    apply_values(table, std::move(more));
    return table;
  }
  static TrainedRecipe train(const ConfigTable& recipe) { return train_recipe(recipe, nullptr, {}, {.resume = false}); }

  static constexpr const char* problem_ = "zoo:nmt?layers=2&sequence=4&training=true@k40x2";
  test::TemporaryFolder folder_;
};

TEST_F(KnownStart, IsNeverWorseThanTheQuickPlacers) {
  const source::LoadedProblem loaded = source::load_problem(problem_, {});
  const Problem* const list[] = {&loaded.problem};
  const auto evaluator = evaluate::make_local_evaluator(list, Schedule::fifo);
  search::PlacerRequest request;
  request.problem = &loaded.problem;
  request.evaluator = evaluator.get();
  const verdict::QuickReferences quick =
      verdict::quick_references(request, {0.5, std::numeric_limits<double>::infinity()});
  ASSERT_GT(quick.found.size(), 3U);
  const TrainedRecipe alone = train(recipe({}));
  const TrainedRecipe taught = train(recipe({{"demonstrations", value(true)}}));
  Ticks best = quick.found.front().outcome.makespan;
  for (const verdict::Reference& each : quick.found) best = std::min(best, each.outcome.makespan);
  EXPECT_LE(taught.best.front()->outcome.makespan, best);
  EXPECT_LE(taught.best.front()->outcome.makespan, alone.best.front()->outcome.makespan);
  // Their simulations count.
  EXPECT_GE(taught.evaluations, alone.evaluations + quick.evaluations);
  const TrainedRecipe polished =
      train(recipe({{"demonstrations", value(true)}, {"polish.samples", value(std::int64_t{2})}}));
  EXPECT_LT(polished.best.front()->outcome.makespan, best);
}

TEST_F(KnownStart, LeavesEvaluationsForOneUpdate) {
  const auto with = [&](std::int64_t evaluations) {
    return train(recipe({{"demonstrations", value(true)},
                         {"polish.samples", value(std::int64_t{2})},
                         {"updates", value(std::int64_t{1000})},
                         {"evaluations", value(evaluations)}}));
  };
  for (const std::int64_t evaluations : {20, 21, 25, 60, 200}) {
    const TrainedRecipe trained = with(evaluations);
    EXPECT_GE(trained.updates, 1U) << evaluations;
    EXPECT_LE(trained.evaluations, static_cast<std::uint64_t>(evaluations));
  }
}

TEST_F(KnownStart, HasTheAnswerOfAQuickPlacerWhenItsTimeIsOverAtOnce) {
  const TrainedRecipe trained = train(recipe({{"demonstrations", value(true)}, {"seconds", value(1e-6)}}));
  EXPECT_TRUE(trained.finished);
  ASSERT_TRUE(trained.best.front().has_value());
  EXPECT_TRUE(trained.best.front()->outcome.feasible());
}

TEST_F(KnownStart, OfAFineTuningIsWhatItsPolicyDraws) {
  const Values gdp = {{"policy", value(std::string("gdp"))},       {"learner", value(std::string("ppo"))},
                      {"gdp.hidden", value(std::int64_t{8})},      {"gdp.heads", value(std::int64_t{2})},
                      {"gdp.feedforward", value(std::int64_t{8})}, {"ppo.samples_per_update", value(std::int64_t{4})}};
  (void)train(recipe(gdp));
  const auto fine_tuned = [&](std::int64_t draws) {
    ConfigTable table = recipe(gdp);
    apply_values(table, {{"init", value(folder_ / "run")},
                         {"run", value(folder_ / "fine")},
                         {"updates", value(std::int64_t{1})},
                         {"init_draws", value(draws)}});
    return train(table);
  };
  const TrainedRecipe none = fine_tuned(0), some = fine_tuned(50);
  EXPECT_EQ(some.evaluations, none.evaluations + 50);
  EXPECT_LE(some.best.front()->outcome.makespan, none.best.front()->outcome.makespan);
}

TEST_F(KnownStart, OfSeveralProblemsIsThatOfEach) {
  const std::vector<std::string> problems = {problem_, "zoo:nmt?layers=2&sequence=3&training=true@k40x2"};
  ConfigList list;
  for (const std::string& each : problems) list.push_back(value(each));
  ConfigTable table = recipe({{"demonstrations", value(true)}});
  apply_values(table, {{"problems", value(list)}});
  const TrainedRecipe trained = train(table);
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const source::LoadedProblem loaded = source::load_problem(problems[p], {});
    const Problem* const pointers[] = {&loaded.problem};
    const auto evaluator = evaluate::make_local_evaluator(pointers, Schedule::fifo);
    search::PlacerRequest request;
    request.problem = &loaded.problem;
    request.evaluator = evaluator.get();
    for (const verdict::Reference& each : verdict::quick_references(request).found)
      EXPECT_LE(trained.best[p]->outcome.makespan, each.outcome.makespan) << each.method;
  }
}

}  // namespace
}  // namespace emplace::experiment::known_start_test
