// Hill climbing on the incremental engine: every accepted move is exact, under every schedule and with all kinds of
// channels.
#include "search/local/local_search.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "emplace/base/error.hpp"
#include "emplace/problem/builder.hpp"
#include "emplace/simulate/engine.hpp"
#include "search/local/neighbourhood.hpp"
#include "simulate/incremental/incremental.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::search::local_search_test {
namespace {

using test::RandomPlacement;
using test::RandomProblem;

Outcome simulate(const Problem& problem, const Placement& placement, Schedule schedule) {
  return simulate::make_reference_engine(problem, schedule)->evaluate(placement);
}

// Sets memories near the needs of the start placement, so that some moves and some starts overflow.
void limit_memory(Problem& problem, const Placement& start, Schedule schedule) {
  Usage usage;
  simulate::make_reference_engine(problem, schedule)->evaluate(start, {.usage = &usage, .timeline = nullptr});
  for (std::size_t d = 0; d < usage.device_peak.size(); ++d) {
    const auto slack = *rc::gen::weightedElement<Bytes>({{2, 0}, {2, 3}, {1, -2}, {3, no_memory_limit}});
    problem.devices[d].memory = slack == no_memory_limit ? slack : std::max<Bytes>(0, usage.device_peak[d] + slack);
  }
}

TEST(LocalSearch, ReportsWhatTheReferenceSaysAndIsNeverWorseThanItsStart) {
  EXPECT_TRUE(rc::check("any schedule, channels and memory", [](const RandomProblem& genes, RandomPlacement placement) {
    Problem problem = problem_of(genes);
    placement.groups_together = true;
    const Placement start = placement_of(problem, placement);
    const auto schedule = *rc::gen::element(Schedule::fifo, Schedule::priority, Schedule::in_order);
    limit_memory(problem, start, schedule);
    const Grouping units = make_grouping(problem, *rc::gen::element(GroupingKind::colocation, GroupingKind::op));
    LocalSearchOptions options;
    options.seed = *rc::gen::arbitrary<std::uint64_t>();
    options.evaluations = 300;
    options.guided = *rc::gen::arbitrary<bool>();
    const LocalSearchResult result = local_search(problem, units, schedule, start, options);
    RC_ASSERT(result.outcome == simulate(problem, result.placement, schedule));
    RC_ASSERT(!better(simulate(problem, start, schedule), result.outcome));
    check_placement(problem, result.placement);
    RC_ASSERT(result.guesses + result.checks <= 300);
    const LocalSearchResult again = local_search(problem, units, schedule, start, options);
    RC_ASSERT(again.placement == result.placement);
    RC_ASSERT(again.guesses == result.guesses);
    RC_ASSERT(again.checks == result.checks);
  }));
}

TEST(Neighbourhood, GuessesExactlyInOrderWithoutLimits) {
  EXPECT_TRUE(rc::check("in-order", [](const RandomProblem& genes, const RandomPlacement& placement) {
    const Problem problem = problem_of(genes);
    const Placement start = placement_of(problem, placement);
    const Grouping units = make_grouping(problem, GroupingKind::op);
    Neighbourhood neighbourhood(problem, units, Schedule::in_order);
    neighbourhood.start(start);
    for (std::uint32_t unit = 0; unit < units.count(); ++unit)
      for (std::size_t d = 0; d < problem.device_count(); ++d) {
        const auto device = static_cast<std::uint8_t>(d);
        if (!neighbourhood.can_move(unit, device)) continue;
        const Outcome guess = neighbourhood.guess(unit, device);
        RC_ASSERT(guess == neighbourhood.check(unit, device));
        if (better(guess, neighbourhood.outcome())) neighbourhood.accept();
      }
    RC_ASSERT(neighbourhood.outcome() == simulate(problem, neighbourhood.placement(), Schedule::in_order));
  }));
}

// Why a guided search leaves these units out. If several devices send over one channel, the order of its transfers may
// change with a move elsewhere.
TEST(Neighbourhood, NoUnitOffTheCriticalPathShortensAStepInOrder) {
  EXPECT_TRUE(rc::check("in-order", [](const RandomProblem& genes, const RandomPlacement& placement) {
    const Problem problem = problem_of(genes);
    if (!simulate::incremental_supports(problem)) return;
    const Grouping units = make_grouping(problem, GroupingKind::op);
    Neighbourhood neighbourhood(problem, units, Schedule::in_order);
    const Outcome now = neighbourhood.start(placement_of(problem, placement));
    if (!now.timed()) return;
    const CriticalChoices critical = neighbourhood.critical();
    std::vector<bool> is_critical(units.count(), false);
    for (const std::uint32_t op : critical.ops) is_critical[units.unit_of_op[op]] = true;
    for (const std::uint32_t op : critical.ends) is_critical[units.unit_of_op[op]] = true;
    for (std::uint32_t unit = 0; unit < units.count(); ++unit)
      for (std::size_t d = 0; d < problem.device_count() && !is_critical[unit]; ++d) {
        if (!neighbourhood.can_move(unit, static_cast<std::uint8_t>(d))) continue;
        const Outcome moved = neighbourhood.check(unit, static_cast<std::uint8_t>(d));
        if (moved.timed()) RC_ASSERT(moved.makespan >= now.makespan);
      }
  }));
}

TEST(Neighbourhood, EstimatesMovesOfTheCurrentPlacementWhereGuessesAreFullSimulations) {
  EXPECT_TRUE(rc::check("after an accepted change", [](const RandomProblem& genes, const RandomPlacement& placement) {
    const Problem problem = problem_of(genes);
    const Grouping units = make_grouping(problem, GroupingKind::op);
    const auto schedule = *rc::gen::element(Schedule::fifo, Schedule::priority, Schedule::in_order);
    Neighbourhood neighbourhood(problem, units, schedule);
    neighbourhood.start(placement_of(problem, placement));
    RC_PRE(neighbourhood.outcome().timed());
    RC_ASSERT(neighbourhood.can_estimate() != simulate::incremental_supports(problem));
    RC_PRE(neighbourhood.can_estimate());
    neighbourhood.consider(0);
    const auto unit = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(units.count()));
    const auto device = static_cast<std::uint8_t>(*rc::gen::inRange<std::size_t>(0, problem.device_count()));
    RC_PRE(neighbourhood.can_move(unit, device) && neighbourhood.check(unit, device).timed());
    neighbourhood.accept();
    if (neighbourhood.can_move(unit, 0)) neighbourhood.check(unit, 0);  // and not accepted
    neighbourhood.critical();
    Neighbourhood fresh(problem, units, schedule);
    fresh.start(neighbourhood.placement());
    for (std::uint32_t each = 0; each < units.count(); ++each) {
      neighbourhood.consider(each);
      fresh.consider(each);
      for (std::size_t to = 0; to < problem.device_count(); ++to)
        if (units.allows(each, to))
          RC_ASSERT(neighbourhood.estimate(static_cast<std::uint8_t>(to)) ==
                    fresh.estimate(static_cast<std::uint8_t>(to)));
    }
  }));
}

// n independent ops of 1 s and two devices without a channel between them.
Problem independent_ops(std::size_t n, Bytes memory) {
  ProblemBuilder builder("independent");
  builder.add_device({"a", "", memory});
  builder.add_device({"b", "", memory});
  for (std::size_t op = 0; op < n; ++op) builder.add_op({"op" + std::to_string(op), "", {1, 1}, 10, 0, ""});
  return builder.build();
}

TEST(LocalSearch, HalvesAStepOfIndependentOps) {
  const Problem problem = independent_ops(8, no_memory_limit);
  const Grouping units = make_grouping(problem, GroupingKind::op);
  const LocalSearchResult result =
      local_search(problem, units, Schedule::fifo, {std::vector<std::uint8_t>(8, 0), {}}, {});
  EXPECT_EQ(result.outcome.makespan, 4 * static_cast<Ticks>(ticks_per_second));
  EXPECT_EQ(result.accepted, 4U);
  EXPECT_TRUE(result.settled);
}

// On a, which alone can run them: a first op of 1 s, then a chain of 10 ops of 1 s, and a last op that waits for a slow
// op of 10 s. The slow op may also run on b, to and from which a transfer takes 1 s. If all are on a, the last op runs
// before most of the chain.
Problem chain_beside_a_slow_op() {
  constexpr double never = std::numeric_limits<double>::quiet_NaN();
  ProblemBuilder builder("chain");
  const DeviceId a = builder.add_device({"a", "", no_memory_limit}), b = builder.add_device({"b", "", no_memory_limit});
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)})
    builder.add_route(from, to, {builder.add_channel({"link" + std::to_string(from.index()), 1.0, 1e9})});
  const OpId first = builder.add_op({"first", "", {1, never}});
  const OpId slow = builder.add_op({"slow", "", {10, 10}});
  std::vector<OpId> chain;
  for (int i = 0; i < 10; ++i) chain.push_back(builder.add_op({"chain" + std::to_string(i), "", {1, never}}));
  const OpId last = builder.add_op({"last", "", {1, never}});
  builder.add_tensor(first, 1, {slow, chain.front()});
  builder.add_tensor(slow, 1, {last});
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) builder.add_tensor(chain[i], 1, {chain[i + 1]});
  return builder.build();
}

TEST(LocalSearch, FindsMovesThatHelpOnlyBecauseOtherOpsThenGoFirst) {
  const Problem problem = chain_beside_a_slow_op();
  const Grouping units = make_grouping(problem, GroupingKind::op);
  const Placement start{std::vector<std::uint8_t>(problem.op_count(), 0), {}};
  Neighbourhood neighbourhood(problem, units, Schedule::fifo);
  const Outcome now = neighbourhood.start(start);
  EXPECT_FALSE(better(neighbourhood.guess(1, 1), now)) << "in its old order the last op waits, and the chain with it";
  LocalSearchOptions options;
  EXPECT_EQ(local_search(problem, units, Schedule::fifo, start, options).outcome.makespan, now.makespan);
  options.guided = true;
  const LocalSearchResult found = local_search(problem, units, Schedule::fifo, start, options);
  EXPECT_EQ(found.placement.device[1], 1);
  EXPECT_LT(found.outcome.makespan, now.makespan * 2 / 3);
}

TEST(LocalSearch, NeverAcceptsAnOverflow) {
  // Device b holds 10 of each op's 10 resident bytes: two ops may leave a, the third would overflow b.
  Problem problem = independent_ops(8, 80);
  problem.devices[1].memory = 20;
  const Grouping units = make_grouping(problem, GroupingKind::op);
  const LocalSearchResult result =
      local_search(problem, units, Schedule::fifo, {std::vector<std::uint8_t>(8, 0), {}}, {});
  EXPECT_TRUE(result.outcome.feasible());
  EXPECT_EQ(result.outcome.makespan, 6 * static_cast<Ticks>(ticks_per_second));
  EXPECT_EQ(std::count(result.placement.device.begin(), result.placement.device.end(), 1), 2);
}

TEST(LocalSearch, LeavesAnInfeasibleStart) {
  // All on a overflow it by 40 bytes; both devices together hold everything.
  const Problem problem = independent_ops(8, 40);
  const Grouping units = make_grouping(problem, GroupingKind::op);
  const LocalSearchResult result =
      local_search(problem, units, Schedule::fifo, {std::vector<std::uint8_t>(8, 0), {}}, {});
  EXPECT_TRUE(result.outcome.feasible());
}

TEST(LocalSearch, EndsWithTheBudget) {
  const Problem problem = independent_ops(50, no_memory_limit);
  const Grouping units = make_grouping(problem, GroupingKind::op);
  const Placement start{std::vector<std::uint8_t>(50, 0), {}};
  const LocalSearchResult one = local_search(problem, units, Schedule::fifo, start, {0, 1, std::nullopt});
  EXPECT_EQ(one.placement.device, start.device);
  EXPECT_EQ(one.guesses + one.checks, 1U);
  EXPECT_FALSE(one.settled);
  const LocalSearchResult no_time = local_search(problem, units, Schedule::fifo, start, {0, std::nullopt, 0.0});
  EXPECT_EQ(no_time.placement.device, start.device);
  EXPECT_FALSE(no_time.settled);
}

TEST(Neighbourhood, AcceptsOnlyWhatWasChecked) {
  const Problem problem = independent_ops(2, no_memory_limit);
  const Grouping units = make_grouping(problem, GroupingKind::op);
  Neighbourhood neighbourhood(problem, units, Schedule::fifo);
  neighbourhood.start({{0, 0}, {}});
  neighbourhood.guess(0, 1);
  EXPECT_THROW(neighbourhood.accept(), BugError);
}

}  // namespace
}  // namespace emplace::search::local_search_test
