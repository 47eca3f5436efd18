// The integer program of a step against exhaustive search and against branch and bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/search/placer.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/search/every_schedule.hpp"
#include "tests/search/random_step.hpp"

namespace emplace::search::step_milp_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

PlacerResult solve(const std::string& method, const Problem& problem, Schedule schedule,
                   const ConfigTable& options = ConfigTable("test")) {
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, schedule);
  PlacerRequest request;
  request.problem = &problem;
  request.schedule = schedule;
  request.evaluator = evaluator.get();
  return place_with(method, request, options);
}

// The same with a limit on cuts: the program has it, so it also proves.
TEST(StepMilp, FindsTheBestPlacementWithFewCuts) {
  std::size_t proved = 0, dearer = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Stream random{{.seed = seed + 500}};
    Problem problem = test::without_limits(test::random_step_problem(random, 5, 3));
    const Ticks free = test::best_of_all(problem, Schedule::in_order);
    problem.max_cuts = random.below(2);
    const Ticks best = test::best_of_all(problem, Schedule::in_order);
    const PlacerResult result = solve("milp", problem, Schedule::in_order);
    EXPECT_LE(result.lower_bound, best) << "seed " << seed;
    EXPECT_EQ(result.outcome.feasible(), best != total_limit) << "seed " << seed;
    if (!result.outcome.feasible()) continue;
    EXPECT_EQ(result.outcome.makespan, best) << "seed " << seed;
    EXPECT_TRUE(result.proved_optimal) << "seed " << seed;
    ++proved;
    dearer += best > free;
  }
  EXPECT_GT(proved, 300U);
  EXPECT_GT(dearer, 10U);
}

// a and c take 3 ms on the first device and 2 ms on the second, b takes 2 ms on either; a feeds both, transfers take 1
// ms. All on the second take 6 ms. With b on the first, a ends at 2 and c at 4 there, and b runs from 3 to 5.
TEST(StepMilp, SplitsThreeOpsAsByHand) {
  const Problem problem = tiny(plain_devices(2), {{"a", {3, 2}}, {"b", {2, 2}}, {"c", {3, 2}}}, {{0, 1}, {0, 2}}, 1);
  const PlacerResult result = solve("milp", problem, Schedule::in_order);
  EXPECT_EQ(result.outcome.makespan, 5 * ms);
  EXPECT_TRUE(result.proved_optimal);
  EXPECT_EQ(result.placement.device, (std::vector<std::uint8_t>{1, 0, 1}));
}

TEST(StepMilp, NeverClaimsWhatExhaustiveSearchDenies) {
  std::size_t proved = 0, unproved = 0, infeasible = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Stream random{{.seed = seed + 9000}};
    const Problem problem = test::random_step_problem(random, 5, 3, seed % 2 == 0);
    for (const Schedule schedule : {Schedule::fifo, Schedule::in_order}) {
      const Ticks best = test::best_of_all(problem, schedule);
      const PlacerResult result = solve("milp", problem, schedule);
      check_placement(problem, result.placement);
      EXPECT_LE(result.lower_bound, best) << "seed " << seed;
      if (best == total_limit) {
        EXPECT_FALSE(result.outcome.feasible() || result.proved_optimal) << "seed " << seed;
        ++infeasible;
      } else if (result.proved_optimal) {
        EXPECT_EQ(result.outcome.makespan, best) << "seed " << seed;
        ++proved;
      } else {
        EXPECT_THAT(result.note, AnyOf(HasSubstr("leaves out"), HasSubstr("no placement is feasible")))
            << "seed " << seed;
        ++unproved;
      }
    }
  }
  EXPECT_GT(proved, 500U);
  EXPECT_GT(unproved, 5U);
  EXPECT_GT(infeasible, 0U);
}

TEST(StepMilp, ProvesWhatBranchAndBoundProves) {
  std::size_t both = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Stream random{{.seed = seed + 700}};
    const Problem problem = test::without_limits(test::random_step_problem(random, 7, 3));
    const PlacerResult search = solve("branch-and-bound", problem, Schedule::in_order);
    const PlacerResult program = solve("milp", problem, Schedule::in_order);
    EXPECT_EQ(program.outcome.makespan, search.outcome.makespan) << "seed " << seed;
    EXPECT_EQ(program.proved_optimal, search.proved_optimal) << "seed " << seed;
    both += program.proved_optimal;
  }
  EXPECT_GT(both, 20U);
}

TEST(StepMilp, RefusesWhatIsTooLargeAndOptionsOfThePipeline) {
  const auto message = [](const Problem& problem, const char* key, ConfigValue value) {
    ConfigTable options("test");
    options.set(key, std::move(value));
    try {
      solve("milp", problem, Schedule::fifo, options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  std::vector<TinyOp> ops;
  for (int i = 0; i < 21; ++i) ops.push_back({std::to_string(i), {1}});
  const ConfigValue nodes{std::int64_t{10}, "test"};
  EXPECT_THAT(message(tiny(plain_devices(1), ops, {}), "nodes", nodes), HasSubstr("21 ops are more than the 20"));
  ops.resize(2);
  EXPECT_EQ(message(tiny(plain_devices(1), ops, {}), "nodes", nodes), "no error");
  EXPECT_THAT(message(tiny(plain_devices(1), ops, {}), "contiguous", {std::string("no"), "test"}),
              HasSubstr("contiguous"));
}

}  // namespace
}  // namespace emplace::search::step_milp_test
