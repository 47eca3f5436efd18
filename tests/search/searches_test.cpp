// layers, climb, anneal, tabu, ruin, brkga, contracted, layered and the portfolio `best`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.hpp"
#include "emplace/base/random.hpp"
#include "emplace/search/bound.hpp"
#include "emplace/search/placer.hpp"
#include "formats/workload/workload.hpp"
#include "search/local/local_search.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/search/every_schedule.hpp"
#include "tests/search/place_steps.hpp"
#include "tests/search/random_step.hpp"
#include "tests/support/outside_files.hpp"

namespace emplace::search::searches_test {
namespace {

using namespace test;
using test::place;

// 8 ops of 2 to 9 ms on two devices of different speed, all edges of a random graph, transfers of 1 ms.
Problem eight_ops(std::uint64_t seed) {
  Stream random({.seed = seed});
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 8; ++i) {
    ops.push_back({std::to_string(i), {2.0 + random.below(8), 2.0 + random.below(8)}});
    for (std::size_t j = 0; j < i; ++j)
      if (random.below(3) == 0) edges.push_back({j, i});
  }
  return tiny(plain_devices(2), ops, edges, 1);
}

Ticks best_of_all_placements(const Problem& problem) {
  const auto engine = simulate::make_exact_engine(problem, Schedule::fifo);
  Ticks best = std::numeric_limits<Ticks>::max();
  for (unsigned bits = 0; bits < 256; ++bits) {
    Placement placement;
    for (unsigned i = 0; i < 8; ++i) placement.device.push_back(bits >> i & 1);
    best = std::min(best, engine->evaluate(placement).makespan);
  }
  return best;
}

class EverySearch : public ::testing::TestWithParam<const char*> {};

TEST_P(EverySearch, FindsTheBestOfAllPlacementsOfEightOps) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Problem problem = eight_ops(seed);
    EXPECT_EQ(place(GetParam(), problem, Schedule::fifo, 20'000).outcome.makespan, best_of_all_placements(problem));
  }
}

TEST_P(EverySearch, IsNeverWorseThanThePlacementItStartsFrom) {
  const Problem problem = eight_ops(3);
  for (unsigned bits = 0; bits < 256; bits += 5) {
    Placement start;
    for (unsigned i = 0; i < 8; ++i) start.device.push_back(bits >> i & 1);
    const Outcome before = simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(start);
    EXPECT_FALSE(better(before, place(GetParam(), problem, Schedule::fifo, 20, &start).outcome));
  }
}

TEST_P(EverySearch, SaysWhatItFoundItself) {
  const Placement start{{0, 1, 0, 1, 0, 1, 0, 1}, {}};
  const PlacerResult result = place(GetParam(), eight_ops(3), Schedule::fifo, 400, &start);
  ASSERT_FALSE(result.steps.empty());
  EXPECT_TRUE(result.steps.back().is_new_best);
  EXPECT_EQ(result.steps.back().outcome, result.outcome);
  EXPECT_GT(result.steps.back().gained, 0);
}

TEST_P(EverySearch, FindsItsWayOutOfAPlacementWithoutMemory) {
  // Each device holds three of the four ops, and all start on the first.
  std::vector<Device> devices = {{"a", "gpu", 30}, {"b", "gpu", 30}};
  std::vector<TinyOp> ops;
  for (int i = 0; i < 4; ++i) ops.push_back({std::to_string(i), {1, 1}, "", 10});
  const Problem problem = tiny(devices, ops, {{0, 1}, {1, 2}, {2, 3}}, 1);
  const Placement start{{0, 0, 0, 0}, {}};
  const PlacerResult result = place(GetParam(), problem, Schedule::fifo, 2000, &start);
  EXPECT_TRUE(result.outcome.feasible());
  EXPECT_EQ(result.outcome.makespan, 5 * ms) << "4 ops and one transfer";
}

TEST_P(EverySearch, FindsItsWayOutOfAStartInWhichTwoOpsCannotRun) {
  const Problem problem =
      tiny(plain_devices(2), {{"a", {no, 1}}, {"b", {1, 3}}, {"c", {no, 1}}, {"d", {1, 3}}}, {{0, 1}, {2, 3}}, 1);
  const Placement start{{0, 0, 0, 0}, {}};
  const PlacerResult result = place(GetParam(), problem, Schedule::fifo, 2000, &start);
  EXPECT_EQ(result.outcome.makespan, 4 * ms) << "a and c, then the transfer of c's output and d";
}

TEST_P(EverySearch, FindsItsWayOutOfAStartThatNeedsRoutesThatThereAreNot) {
  ProblemBuilder builder("islands");
  for (Device& device : plain_devices(3)) builder.add_device(std::move(device));
  const auto channel = builder.add_channel({"link", 1e-3, 1e30, true});
  builder.add_route(DeviceId{0}, DeviceId{1}, {channel});
  for (const char* name : {"a", "b", "c"}) builder.add_op({.name = name, .seconds = {2e-3, 3e-3, 1e-3}});
  builder.add_tensor(OpId{0}, 8, {OpId{1}});
  builder.add_tensor(OpId{1}, 8, {OpId{2}});
  const Problem problem = builder.build("islands");
  const Placement start{{0, 2, 1}, {}};
  const PlacerResult result = place(GetParam(), problem, Schedule::fifo, 2000, &start);
  EXPECT_EQ(result.outcome.makespan, 3 * ms) << "all on the fastest device";
}

TEST_P(EverySearch, FindsItsWayOutOfAStartThatSplitsGroups) {
  std::vector<TinyOp> ops;
  for (const char* name : {"a", "b", "c", "d"}) ops.push_back({name, {1, 1}, name < std::string("c") ? "x" : "y"});
  const Problem problem = tiny(plain_devices(2), ops, {{0, 1}, {2, 3}}, 1);
  const Placement start{{0, 1, 0, 1}, {}};
  const PlacerResult result = place(GetParam(), problem, Schedule::fifo, 2000, &start);
  EXPECT_EQ(result.outcome.makespan, 2 * ms) << "each group on a device of its own";
}

TEST_P(EverySearch, TakesTheLargestBudgetAsOneOfEvaluations) {
  const Problem problem = eight_ops(3);
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, {Schedule::fifo, Objective::step});
  int asked = 0;
  PlacerRequest request;
  request.problem = &problem;
  request.evaluator = evaluator.get();
  request.evaluations = std::numeric_limits<std::uint64_t>::max();
  request.stop = [&] { return ++asked > 200; };
  EXPECT_TRUE(place_with(GetParam(), request, {}).outcome.feasible());
}

// Each op of a chain lasts 3 ms on device 0 and 1 ms on device 1, transfers take 3 ms: one op alone saves 2 ms and pays
// one of them or two. The first half saves 4 ms and pays one, the other half then saves 4 ms and that one.
TEST(Climb, MovesNeighboursTogetherWhereEachAloneWouldLose) {
  const Problem problem =
      tiny(plain_devices(2), {{"a", {3, 1}}, {"b", {3, 1}}, {"c", {3, 1}}, {"d", {3, 1}}}, {{0, 1}, {1, 2}, {2, 3}}, 3);
  const Placement start{{0, 0, 0, 0}, {}};
  const Grouping ops = make_grouping(problem, GroupingKind::colocation);
  LocalSearchOptions patient;
  patient.evaluations = 1000;
  EXPECT_EQ(local_search(problem, ops, Schedule::fifo, start, patient).outcome.makespan, 12 * ms);
  ConfigTable options;
  options.set("coarsest", {std::int64_t{2}, "test"});
  EXPECT_EQ(place("climb", problem, Schedule::fifo, 10, &start, 1, options).outcome.makespan, 4 * ms);
}

TEST(Ruin, MovesARegionWhereEachUnitAloneWouldLose) {
  const Problem problem =
      tiny(plain_devices(2), {{"a", {3, 1}}, {"b", {3, 1}}, {"c", {3, 1}}, {"d", {3, 1}}}, {{0, 1}, {1, 2}, {2, 3}}, 3);
  const Placement start{{0, 0, 0, 0}, {}};
  EXPECT_EQ(place("ruin", problem, Schedule::fifo, 200, &start).outcome.makespan, 4 * ms);
}

TEST(Ruin, EndsWithoutABudgetOfEvaluationsWhereNoUnitCanMove) {
  const Problem pinned = tiny(plain_devices(2), {{"a", {no, 2}}, {"b", {1, no}}}, {{0, 1}}, 1);
  EXPECT_EQ(place("ruin", pinned, Schedule::fifo, 1'000'000).outcome.makespan, 4 * ms);
}

INSTANTIATE_TEST_SUITE_P(Search, EverySearch,
                         ::testing::Values("layers", "climb", "anneal", "tabu", "ruin", "brkga", "contracted",
                                           "layered", "best"));

TEST(Best, SaysWhoFoundWhatWhen) {
  const Problem problem = eight_ops(5);
  const PlacerResult result = place("best", problem, Schedule::fifo, 3000);
  ASSERT_FALSE(result.steps.empty());
  Outcome best = result.steps.front().outcome;
  std::uint64_t evaluations = 0;
  for (const PlacerStep& step : result.steps) {
    EXPECT_EQ(step.is_new_best, &step == result.steps.data() || better(step.outcome, best)) << step.method;
    if (step.is_new_best) best = step.outcome;
    EXPECT_GE(step.evaluations, evaluations);
    evaluations = step.evaluations;
  }
  EXPECT_EQ(best, result.outcome);
  EXPECT_EQ(evaluations, result.evaluations);
}

TEST(Best, LeavesOutTheSearchesThatItIsTold) {
  // 40 ops, so that no quick placer and no bound ends it.
  Stream random({.seed = 9});
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 40; ++i) {
    ops.push_back({std::to_string(i), {2.0 + random.below(8), 2.0 + random.below(8)}});
    for (std::size_t j = 0; j < i; ++j)
      if (random.below(8) == 0) edges.push_back({j, i});
  }
  const Problem problem = tiny(plain_devices(2), ops, edges, 1);
  const auto methods = [&](const std::string& without) {
    ConfigTable options;
    options.set("without", {without, "test"});
    std::set<std::string> names;
    for (const PlacerStep& step : place("best", problem, Schedule::fifo, 20'000, nullptr, 1, options).steps)
      names.insert(step.method);
    return names;
  };
  EXPECT_THAT(methods(""), ::testing::IsSupersetOf({"layers", "climb"}));
  const std::set<std::string> rest = methods("layers,climb");
  EXPECT_THAT(rest, ::testing::AllOf(::testing::Not(::testing::Contains("layers")),
                                     ::testing::Not(::testing::Contains("climb")), ::testing::Contains("ruin")));
  EXPECT_FALSE(methods("layers,layers").contains("layers"));
  try {
    methods("layer");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(
                                  "'layer' is no search of `best` (did you mean 'layers'?); there are: layers, climb"));
  }
}

TEST(Best, IsAtLeastAsGoodAsEveryPlacerItRuns) {
  for (std::uint64_t seed = 20; seed < 30; ++seed) {
    const Problem problem = eight_ops(seed);
    for (const Schedule schedule : {Schedule::fifo, Schedule::in_order}) {
      const PlacerResult best = place("best", problem, schedule, 4000);
      EXPECT_GE(best.outcome.makespan, lower_bound(problem).ticks);
      for (const PlacerEntry& entry : placers()) {
        if (entry.role != PlacerRole::quick || entry.only_for || entry.unfit) continue;
        EXPECT_FALSE(better(place(entry.name, problem, schedule, 100).outcome, best.outcome)) << entry.name;
      }
    }
  }
}

TEST(Best, AttainsTheOptimumOfAllSchedulesOfSmallTaskGraphs) {
  std::size_t feasible = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Stream random{{.seed = seed}};
    const Problem problem = test::without_limits(test::random_step_problem(random, 5, 3));
    const Ticks least = test::best_of_all(problem, Schedule::in_order);
    if (least == total_limit) continue;  // nothing is feasible
    ++feasible;
    EXPECT_EQ(place("best", problem, Schedule::in_order, 20'000).outcome.makespan, least) << "seed " << seed;
  }
  EXPECT_GE(feasible, 30U);
}

TEST(Best, AttainsThePublishedOptimaOfSmallTaskGraphs) {
  const std::string file = test::outside_file("workloads/sinnen-optimal/sinnen-optimal-10-tasks.json");
  REQUIRE_OUTSIDE_FILE(file);
  const nlohmann::json instances = nlohmann::json::parse(read_file(file));
  std::size_t seen = 0, attained = 0;
  for (std::size_t i = 0; i < instances.size(); i += 23) {  // 12 of 276
    const auto& instance = instances[i];
    const Problem problem = formats::read_problem_file({file, {instance["name"].get<std::string>(), std::nullopt}});
    const Ticks optimum = std::llround(instance["optimal"].get<double>() * 1e6);  // from microseconds
    const Ticks found = place("best", problem, Schedule::in_order, 20'000).outcome.makespan;
    attained += found <= optimum + 20 ? 1 : 0;  // costs of 0 take a picosecond here
    ++seen;
  }
  EXPECT_EQ(seen, 12U);
  EXPECT_EQ(attained, seen);
}

}  // namespace
}  // namespace emplace::search::searches_test
