// Orders for placements without one: the first order, and its improvement by order moves.
#include "search/local/order_polish.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "emplace/base/random.hpp"
#include "problem/order.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/search/random_step.hpp"

namespace emplace::search::order_polish_test {
namespace {

using namespace test;
using ::testing::ElementsAre;

Outcome simulate(const Problem& problem, const Placement& placement, Schedule schedule) {
  return simulate::make_reference_engine(problem, schedule)->evaluate(placement);
}

bool never() { return false; }

TEST(OrderPolish, BeginsInOrderWithWhatAPriorityRunDoes) {
  EXPECT_TRUE(rc::check("random problems", [] {
    Stream random({.seed = *rc::gen::arbitrary<std::uint64_t>()});
    const Problem problem = test::random_step_problem(random, 20, 4);
    Placement placement = test::random_placement(problem, random);
    OrderPolish polish(problem, Schedule::in_order);
    placement.order = polish.first_order(placement.device);
    check_placement(problem, placement);
    const Placement by_rank{placement.device, upward_rank_order(problem, placement.device)};
    RC_ASSERT(simulate(problem, placement, Schedule::in_order) == simulate(problem, by_rank, Schedule::priority));
    RC_ASSERT(OrderPolish(problem, Schedule::priority).first_order(placement.device) == by_rank.order);
  }));
}

TEST(OrderPolish, IsNeverWorseKeepsTheDevicesAndSaysWhatItSpends) {
  EXPECT_TRUE(rc::check("random problems", [] {
    Stream random({.seed = *rc::gen::arbitrary<std::uint64_t>()});
    const Problem problem = test::random_step_problem(random, 20, 4);
    for (const Schedule schedule : {Schedule::priority, Schedule::in_order}) {
      const Problem* const list[] = {&problem};
      const auto evaluator = evaluate::make_local_evaluator(list, {schedule, Objective::step});
      const Placement start = test::random_placement(problem, random);
      const Outcome before = simulate(problem, start, schedule);
      Placement placement = start;
      Outcome outcome = before;
      const std::uint64_t most = random.below(40);
      RC_ASSERT(OrderPolish(problem, schedule).improve(placement, outcome, most, *evaluator, never) <= most);
      check_placement(problem, placement);
      RC_ASSERT(placement.device == start.device);
      RC_ASSERT(outcome == simulate(problem, placement, schedule));
      RC_ASSERT(!better(before, outcome));
    }
  }));
}

TEST(OrderPolish, MakesTheOneMoveThatThePathAsksFor) {
  // a [0, 5) and b [5, 6) on device 0, b's tensor in [6, 7), c [7, 12) on device 1. The step begins with the block a, b
  // and waits for b, so a goes behind b: c runs in [2, 7). Then the path is b, transfer, c, without a block.
  const Problem problem = tiny(plain_devices(2), {{"a", {5, no}}, {"b", {1, no}}, {"c", {no, 5}}}, {{1, 2}}, 1);
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, {Schedule::in_order, Objective::step});
  Placement placement{{0, 0, 1}, {0, 1, 2}};
  Outcome outcome = simulate(problem, placement, Schedule::in_order);
  ASSERT_EQ(outcome.makespan, 12 * ms);
  EXPECT_EQ(OrderPolish(problem, Schedule::in_order).improve(placement, outcome, 100, *evaluator, never), 1U);
  EXPECT_EQ(outcome.makespan, 7 * ms);
  EXPECT_THAT(placement.order, ElementsAre(1, 0, 2));
}

}  // namespace
}  // namespace emplace::search::order_polish_test
