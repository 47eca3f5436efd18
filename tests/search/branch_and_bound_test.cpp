// Branch and bound against exhaustive search, also if it ends early.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/search/bound.hpp"
#include "emplace/search/placer.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/search/every_schedule.hpp"
#include "tests/search/random_step.hpp"

namespace emplace::search::branch_and_bound_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

PlacerResult solve(const Problem& problem, Schedule schedule = Schedule::in_order, std::int64_t nodes = 1'000'000,
                   std::optional<std::uint64_t> evaluations = std::nullopt) {
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, schedule);
  PlacerRequest request;
  request.problem = &problem;
  request.schedule = schedule;
  request.evaluator = evaluator.get();
  request.evaluations = evaluations;
  ConfigTable options("test");
  options.set("nodes", {nodes, "test"});
  options.set("memory", {std::int64_t{1}, "test"});
  return place_with("branch-and-bound", request, options);
}

TEST(BranchAndBound, FindsTheBestOfAllSchedulesAndProvesIt) {
  std::size_t solved = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Stream random{{.seed = seed}};
    const Problem problem = test::without_limits(test::random_step_problem(random, 5, 3));
    const Ticks best = test::best_of_all(problem, Schedule::in_order);
    const PlacerResult result = solve(problem);
    if (best == total_limit) {
      EXPECT_FALSE(result.outcome.feasible()) << "seed " << seed;
      EXPECT_THAT(result.note, HasSubstr("no placement is feasible")) << "seed " << seed;
      continue;
    }
    EXPECT_EQ(result.outcome.makespan, best) << "seed " << seed;
    EXPECT_TRUE(result.proved_optimal) << "seed " << seed << ": " << result.note;
    EXPECT_EQ(result.lower_bound, best) << "seed " << seed;
    ++solved;
  }
  EXPECT_GT(solved, 350U);
}

TEST(BranchAndBound, GivesValidBoundsAndProofsWithContentionMemoryAndOtherSchedules) {
  std::size_t proved = 0, unproved = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Stream random{{.seed = seed + 1000}};
    const Problem problem = test::random_step_problem(random, 5, 3);
    for (const Schedule schedule : {Schedule::fifo, Schedule::priority, Schedule::in_order}) {
      const Ticks best = test::best_of_all(problem, schedule);
      const PlacerResult result = solve(problem, schedule);
      EXPECT_LE(result.lower_bound, best) << "seed " << seed;
      EXPECT_EQ(result.proved_optimal, result.outcome.feasible() && result.outcome.makespan == result.lower_bound);
      if (result.outcome.feasible()) {
        EXPECT_GE(result.outcome.makespan, best);
      }
      if (result.proved_optimal) {
        EXPECT_EQ(result.outcome.makespan, best) << "seed " << seed;
      } else {
        EXPECT_NE(result.note, "");
      }
      ++(result.proved_optimal ? proved : unproved);
    }
  }
  EXPECT_GT(proved, 400U);
  EXPECT_GT(unproved, 10U);
}

TEST(BranchAndBound, IsRightWhereverItEnds) {
  std::size_t early = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Stream random{{.seed = seed + 5000}};
    const Problem problem = test::without_limits(test::random_step_problem(random, 11, 4));
    const PlacerResult whole = solve(problem);
    if (!whole.proved_optimal) continue;
    for (const std::int64_t nodes : {1, 2, 3, 5, 8, 13, 30, 100}) {
      const PlacerResult result = solve(problem, Schedule::in_order, nodes);
      EXPECT_LE(result.lower_bound, whole.outcome.makespan) << "seed " << seed << ", " << nodes << " nodes";
      EXPECT_GE(result.outcome.makespan, whole.outcome.makespan);
      EXPECT_GE(result.lower_bound, lower_bound(problem).ticks);
      early += !result.proved_optimal;
    }
  }
  EXPECT_GT(early, 50U);
}

TEST(BranchAndBound, KeepsToABudgetOfEvaluations) {
  Stream random{{.seed = 3}};
  const Problem problem = test::random_step_problem(random, 12, 4);
  for (const std::uint64_t budget : {1, 2, 3, 4, 7})
    EXPECT_LE(solve(problem, Schedule::in_order, 100'000, budget).evaluations, budget);
}

TEST(BranchAndBound, SaysWhatItLeavesOut) {
  // p and q run on device 0 only, r and s, which they feed, on device 1 only. On two channels the transfers of 5 end at
  // 6 and 7, and the step at 8; on one channel they end at 6 and 11, and the step at 12.
  const std::vector<TinyOp> ops = {{"p", {1, no}}, {"q", {1, no}}, {"r", {no, 1}}, {"s", {no, 1}}};
  const auto solved = [&](Bytes memory, Schedule schedule) {
    return solve(tiny({{"d", "", memory}, {"e", "", memory}}, ops, {{0, 2}, {1, 3}}, 5), schedule);
  };
  const PlacerResult result = solved(no_memory_limit, Schedule::in_order);
  EXPECT_EQ(result.outcome.makespan, 12 * ms);
  EXPECT_EQ(result.lower_bound, 8 * ms);
  EXPECT_FALSE(result.proved_optimal);
  EXPECT_EQ(result.note, "the search is complete, but it leaves out waiting for channels");
  EXPECT_EQ(solved(17, Schedule::fifo).note,
            "the search is complete, but it leaves out waiting for channels and memory over time and that the schedule "
            "fifo chooses the order");
}

TEST(BranchAndBound, KnowsThatNothingFits) {
  // c needs its inputs of 6 bytes each and its output of 6 at once, and no device has more than 17.
  const Problem problem =
      tiny({{"d", "", 17}, {"e", "", 17}}, {{"a", {2, 9}, "", 0, 6}, {"b", {2, 9}, "", 0, 6}, {"c", {2, 9}, "", 0, 6}},
           {{0, 2}, {1, 2}}, 5);
  EXPECT_EQ(solve(problem).note, "no placement is feasible: all of them have been searched");
}

TEST(BranchAndBound, LeavesLargeProblemsToTheListSchedulers) {
  Stream random{{.seed = 3}};
  Problem problem = test::random_step_problem(random, 400, 3);
  while (problem.op_count() <= 300) problem = test::random_step_problem(random, 400, 3);
  EXPECT_THAT(solve(problem).note, HasSubstr("list schedulers"));
}

}  // namespace
}  // namespace emplace::search::branch_and_bound_test
