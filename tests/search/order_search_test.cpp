// Searches where only a change of the order, or only an exchange of two units, helps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "emplace/base/random.hpp"
#include "emplace/search/placer.hpp"
#include "search/local/local_search.hpp"
#include "search/local/neighbourhood.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/search/place_steps.hpp"
#include "tests/search/random_step.hpp"

namespace emplace::search::order_search_test {
namespace {

using namespace test;
using test::place;

Outcome simulate(const Problem& problem, const Placement& placement, Schedule schedule) {
  return simulate::make_reference_engine(problem, schedule)->evaluate(placement);
}

// a takes 5 ms and b 1 ms on device 0, where nothing else can run; c takes 5 ms on device 1 and needs b, 1 ms away.
// a first: b ends at 6, c at 12. b first: c runs from 2 to 7, and a ends at 6.
Problem one_right_order() {
  return tiny(plain_devices(2), {{"a", {5, no}}, {"b", {1, no}}, {"c", {no, 5}}}, {{1, 2}}, 1);
}

// a is quick on device 1, b on device 0, and each device holds one of them: 1 ms in place of 5 if both change places.
Problem only_an_exchange() {
  return tiny({{"0", "gpu", 10}, {"1", "gpu", 10}}, {{"a", {5, 1}, "", 10}, {"b", {1, 5}, "", 10}}, {});
}

class ByChanges : public ::testing::TestWithParam<const char*> {};

TEST_P(ByChanges, FindsTheOrderWhereNoDeviceCanChange) {
  const Problem problem = one_right_order();
  const Placement start{{0, 0, 1}, {0, 1, 2}};
  for (const Schedule schedule : {Schedule::priority, Schedule::in_order}) {
    ASSERT_EQ(simulate(problem, start, schedule).makespan, 12 * ms);
    const PlacerResult result = place(GetParam(), problem, schedule, 200, &start);
    EXPECT_EQ(result.outcome.makespan, 7 * ms);
    EXPECT_EQ(result.placement.device, start.device);
    EXPECT_LT(std::ranges::find(result.placement.order, 1U), std::ranges::find(result.placement.order, 0U));
  }
}

TEST_P(ByChanges, ExchangesTwoUnitsWhereNeitherFitsBesideTheOther) {
  const Problem problem = only_an_exchange();
  for (const Schedule schedule : {Schedule::fifo, Schedule::priority, Schedule::in_order}) {
    Placement start{{0, 1}, {}};
    if (schedule != Schedule::fifo) start.order = {0, 1};
    const PlacerResult result = place(GetParam(), problem, schedule, 500, &start);
    EXPECT_TRUE(result.outcome.feasible());
    EXPECT_EQ(result.outcome.makespan, 1 * ms) << name_of(schedule);
  }
}

TEST_P(ByChanges, IsNeverWorseThanItsStartAndSaysWhatASimulationSays) {
  EXPECT_TRUE(rc::check("orders stay topological, the same bits for the same seed", [] {
    Stream random({.seed = *rc::gen::arbitrary<std::uint64_t>()});
    const Problem problem = test::random_step_problem(random, 12, 4);
    const Placement start = test::random_placement(problem, random);
    for (const Schedule schedule : {Schedule::priority, Schedule::in_order}) {
      const PlacerResult result = place(GetParam(), problem, schedule, 150, &start, 5);
      check_placement(problem, result.placement);
      RC_ASSERT(result.outcome == simulate(problem, result.placement, schedule));
      RC_ASSERT(!better(simulate(problem, start, schedule), result.outcome));
      RC_ASSERT(result.evaluations <= 150);
      RC_ASSERT(place(GetParam(), problem, schedule, 150, &start, 5).placement == result.placement);
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(Search, ByChanges, ::testing::Values("climb", "anneal", "tabu"));

TEST(Neighbourhood, ChecksAndMakesWhatASimulationSaysOfAnyChange) {
  EXPECT_TRUE(rc::check("moves, exchanges, orders, and several at once", [] {
    Stream random({.seed = *rc::gen::arbitrary<std::uint64_t>()});
    const Problem problem = test::random_step_problem(random, 12, 4);
    const Grouping units = make_grouping(problem, GroupingKind::colocation);
    const auto schedule = *rc::gen::element(Schedule::priority, Schedule::in_order);
    Neighbourhood neighbourhood(problem, units, schedule);
    neighbourhood.start(test::random_placement(problem, random));
    const auto ops = static_cast<std::uint32_t>(problem.op_count());
    for (int i = 0; i < 20; ++i) {
      Change change;
      const std::uint32_t unit = random.below(static_cast<std::uint32_t>(units.count()));
      const auto device = static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(problem.device_count())));
      if (neighbourhood.can_move(unit, device)) {
        change.unit = unit;
        change.device = device;
        const std::uint32_t partner = random.below(static_cast<std::uint32_t>(units.count()));
        const std::uint8_t home = neighbourhood.placement().device[units.members[unit].front()];
        if (partner != unit && random.below(2) == 0 && neighbourhood.can_move(partner, home)) change.partner = partner;
      }
      if (change.unit == Change::none || random.below(2) == 0) change.order = {random.below(ops), random.below(ops)};
      const Placement before = neighbourhood.placement();
      const Outcome guess = neighbourhood.guess(change);
      RC_ASSERT(neighbourhood.placement() == before);
      const Outcome exact = neighbourhood.check(change);
      RC_ASSERT(neighbourhood.placement() == before);
      RC_ASSERT(change.keeps_order() || guess == exact);
      if (random.below(2) != 0) continue;
      neighbourhood.accept();
      check_placement(problem, neighbourhood.placement());
      RC_ASSERT(simulate(problem, neighbourhood.placement(), schedule) == exact);
      RC_ASSERT(neighbourhood.outcome() == exact);
      neighbourhood.critical();
      RC_ASSERT(simulate(problem, neighbourhood.placement(), schedule) == exact);
    }
  }));
}

class Partitioners : public ::testing::TestWithParam<const char*> {};

// With one evaluation none is left for improving the order.
TEST_P(Partitioners, OrderTheirOwnPlacementByMovesWithinTheBudget) {
  bool any_better = false;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Stream random({.seed = seed});
    const Problem problem = test::random_step_problem(random, 40, 3);
    for (const Schedule schedule : {Schedule::priority, Schedule::in_order}) {
      const PlacerResult first = place(GetParam(), problem, schedule, 1);
      const PlacerResult result = place(GetParam(), problem, schedule, 300);
      EXPECT_LE(result.evaluations, 300U);
      EXPECT_EQ(simulate(problem, result.placement, schedule), result.outcome);
      EXPECT_FALSE(better(first.outcome, result.outcome)) << seed;
      any_better |= better(result.outcome, first.outcome) && result.placement.device == first.placement.device;
    }
  }
  EXPECT_TRUE(any_better);
}

INSTANTIATE_TEST_SUITE_P(Search, Partitioners,
                         ::testing::Values("scotch", "mincut", "metis", "greedy", "round-robin", "contiguous"));

}  // namespace
}  // namespace emplace::search::order_search_test
