// Single moves against trying them all on the reference engine.
#include "report/moves.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "emplace/problem/grouping.hpp"
#include "tests/report/ops.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::report::moves_test {
namespace {

using test::op;
using test::RandomPlacement;
using test::RandomProblem;

MoveSearch search(const Problem& problem, const Placement& placement, const MoveLimits& limits = {}) {
  simulate::Timeline timeline;
  const Outcome now = simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {nullptr, &timeline});
  return find_moves(problem, placement, Schedule::fifo, now, timeline,
                    simulate::critical_path(problem, placement, Schedule::fifo, timeline), limits);
}

Problem three_ops_two_devices(const std::string& group) {
  ProblemBuilder builder("three");
  builder.add_device({"d0", "", no_memory_limit});
  builder.add_device({"d1", "", no_memory_limit});
  builder.add_op(op("a", {2e-12, 2e-12}, "", group));
  builder.add_op(op("b", {3e-12, 3e-12}, "", group));
  builder.add_op(op("c", {4e-12, 4e-12}));
  return builder.build();
}

TEST(Moves, OfSingleOpsRankTheOneThatBalancesBestFirst) {
  // All on d0: 2 + 3 + 4 = 9. Moving a leaves max(7, 2) = 7, moving b max(6, 3) = 6, moving c max(5, 4) = 5.
  const MoveSearch found = search(three_ops_two_devices(""), {{0, 0, 0}, {}});
  ASSERT_EQ(found.best.size(), 3U);
  EXPECT_EQ(found.best[0].ops, (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(found.best[0].to, DeviceId{1U});
  EXPECT_EQ(found.best[0].outcome.makespan, 5);
  EXPECT_EQ(found.best[1].outcome.makespan, 6);
  EXPECT_EQ(found.best[2].outcome.makespan, 7);
  EXPECT_EQ(found.simulated, 3U);
  EXPECT_EQ(found.possible, 3U);
}

TEST(Moves, TakeACoLocationGroupAlongAsAWhole) {
  // a and b together: max(4, 5) = 5, as good as c alone. Of equals the unit with more time on the path comes first.
  const MoveSearch found = search(three_ops_two_devices("g"), {{0, 0, 0}, {}});
  ASSERT_EQ(found.best.size(), 2U);
  EXPECT_EQ(found.best[0].ops, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(found.best[0].outcome.makespan, 5);
  EXPECT_EQ(found.best[1].ops, (std::vector<std::uint32_t>{2}));
}

TEST(Moves, ReuniteASplitGroup) {
  // Split, 5 ticks: infeasible. Both on d1: 5 and feasible; both on d0: max(9, 0) = 9, feasible but slower.
  const MoveSearch found = search(three_ops_two_devices("g"), {{0, 1, 0}, {}});
  ASSERT_EQ(found.best.size(), 1U);
  EXPECT_EQ(found.best[0].ops, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(found.best[0].to, DeviceId{1U});
  EXPECT_TRUE(found.best[0].outcome.feasible());
}

TEST(Moves, RepairAnOpThatCannotRunFirstWhereTheSearchIsShort) {
  // 70 ops of which only the last cannot run where it is; one evaluation is enough to find its move.
  ProblemBuilder builder("broken");
  for (const char* name : {"d0", "d1"}) builder.add_device({name, "", no_memory_limit});
  Placement placement;
  for (int i = 0; i < 70; ++i) {
    builder.add_op(op("op" + std::to_string(i), {i < 69 ? 1e-12 : std::nan(""), 1e-12}));
    placement.device.push_back(0);
  }
  const MoveSearch found = search(builder.build(), placement, {.simulations = 1});
  ASSERT_EQ(found.best.size(), 1U);
  EXPECT_EQ(found.best[0].ops, (std::vector<std::uint32_t>{69}));
  EXPECT_TRUE(found.best[0].outcome.feasible());
  EXPECT_EQ(found.simulated, 1U);
  EXPECT_EQ(found.possible, 70U);
}

TEST(Moves, ThatAreGuessedToHelpMostAreSimulatedFirst) {
  // On d0 an op of 10 that takes 100 on d1, and four of 5 ticks: 30. The long op is first by its length and does not
  // help; of the others each leaves max(25, 5) = 25.
  ProblemBuilder builder("guess");
  for (const char* name : {"d0", "d1"}) builder.add_device({name, "", no_memory_limit});
  builder.add_op(op("long", {10e-12, 100e-12}));
  for (const char* name : {"a", "b", "c", "d"}) builder.add_op(op(name, {5e-12, 5e-12}));
  const MoveSearch found = search(builder.build(), {{0, 0, 0, 0, 0}, {}}, {.simulations = 1});
  EXPECT_EQ(found.possible, 5U);
  EXPECT_EQ(found.guessed, 5U);
  EXPECT_EQ(found.simulated, 1U);
  ASSERT_EQ(found.best.size(), 1U);
  EXPECT_EQ(found.best[0].ops, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(found.best[0].outcome.makespan, 25);
}

TEST(Moves, AreGuessedOnlyAsLongAsTheirWorkAllows) {
  // 400 ops of 1 to 3 ticks in a row on d0; moving the first ones shifts all others, so that a guess walks most of
  // them.
  ProblemBuilder builder("long");
  for (const char* name : {"d0", "d1"}) builder.add_device({name, "", no_memory_limit});
  for (int i = 0; i < 400; ++i) {
    const double seconds = (1 + i % 3) * 1e-12;
    builder.add_op(op("op" + std::to_string(i), {seconds, seconds}));
  }
  const Problem problem = builder.build();
  const Placement placement{std::vector<std::uint8_t>(400, 0), {}};
  const MoveSearch all = search(problem, placement, {.simulations = 10});
  EXPECT_EQ(all.guessed, 400U);
  const MoveSearch few = search(problem, placement, {.simulations = 10, .guessed_ops = 400});
  EXPECT_GT(few.guessed, 0U);
  EXPECT_LT(few.guessed, 400U);
  EXPECT_EQ(few.simulated, 10U);
  EXPECT_EQ(few.best.size(), 5U) << "the likeliest are simulated whether guessed or not";
}

TEST(Moves, TellWhatIsDoneNeverGoingBackNorReachingTheEnd) {
  const Problem problem = three_ops_two_devices("");
  const Placement placement{{0, 0, 0}, {}};
  simulate::Timeline timeline;
  const Outcome now = simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {nullptr, &timeline});
  std::vector<std::pair<std::string, double>> told;
  find_moves(problem, placement, Schedule::fifo, now, timeline,
             simulate::critical_path(problem, placement, Schedule::fifo, timeline), {.simulations = 2},
             [&](std::string_view doing, double share) { told.emplace_back(doing, share); });
  using Told = std::vector<std::pair<std::string, double>>;
  EXPECT_EQ(told, (Told{{"guessing which moves help most", 0},
                        {"simulating the most promising moves", 0},
                        {"simulating the most promising moves", 0.5}}));
}

TEST(Moves, ThatFreeMemoryComeFirstWhereItIsTooSmall) {
  // d0 holds 100 bytes of which 90 are of one short op; one simulation is enough to find it.
  ProblemBuilder builder("full");
  builder.add_device({"d0", "", 95});
  builder.add_device({"d1", "", no_memory_limit});
  for (int i = 0; i < 10; ++i) {
    OpSpec spec = op("op" + std::to_string(i), {i == 7 ? 1e-12 : 5e-12, 5e-12});
    spec.resident = i == 7 ? 91 : 1;
    builder.add_op(spec);
  }
  const MoveSearch found = search(builder.build(), {std::vector<std::uint8_t>(10, 0), {}}, {.simulations = 1});
  ASSERT_EQ(found.best.size(), 1U);
  EXPECT_EQ(found.best[0].ops, (std::vector<std::uint32_t>{7}));
  EXPECT_TRUE(found.best[0].outcome.feasible());
}

TEST(Moves, AreNeverWorseThanSaidWhereOnlySomeAreSimulated) {
  EXPECT_TRUE(rc::check("few simulations", [](const RandomProblem& random, const RandomPlacement& genes) {
    const Problem problem = problem_of(random);
    const Placement placement = placement_of(problem, genes);
    const auto schedule = *rc::gen::element(Schedule::fifo, Schedule::priority, Schedule::in_order);
    const auto reference = simulate::make_reference_engine(problem, schedule);
    simulate::Timeline timeline;
    const Outcome now = reference->evaluate(placement, {nullptr, &timeline});
    const MoveSearch found =
        find_moves(problem, placement, schedule, now, timeline,
                   simulate::critical_path(problem, placement, schedule, timeline), {.simulations = 3});
    RC_ASSERT(found.simulated == std::min<std::uint64_t>(3, found.possible));
    RC_ASSERT(found.guessed <= found.possible);
    for (const Move& move : found.best) {
      RC_ASSERT(better(move.outcome, now));
      Placement moved = placement;
      for (const std::uint32_t member : move.ops) moved.device[member] = static_cast<std::uint8_t>(move.to.index());
      RC_ASSERT(reference->evaluate(moved) == move.outcome);
    }
  }));
}

TEST(Moves, AreAllThatTheReferenceEngineFindsOnRandomProblems) {
  EXPECT_TRUE(rc::check("brute force", [](const RandomProblem& random, const RandomPlacement& genes) {
    const Problem problem = problem_of(random);
    const Placement placement = placement_of(problem, genes);
    const auto schedule = *rc::gen::element(Schedule::fifo, Schedule::priority, Schedule::in_order);
    const auto reference = simulate::make_reference_engine(problem, schedule);
    simulate::Timeline timeline;
    const Outcome now = reference->evaluate(placement, {nullptr, &timeline});
    const MoveSearch found = find_moves(problem, placement, schedule, now, timeline,
                                        simulate::critical_path(problem, placement, schedule, timeline));

    // The best outcome of every unit, by brute force.
    std::uint64_t possible = 0;
    std::vector<Outcome> helpful;
    const Grouping units = make_grouping(problem, GroupingKind::colocation);
    for (std::size_t unit = 0; unit < units.count(); ++unit) {
      Outcome best = now;
      for (std::size_t d = 0; d < problem.device_count(); ++d) {
        Placement moved = placement;
        for (const std::uint32_t member : units.members[unit]) moved.device[member] = static_cast<std::uint8_t>(d);
        if (!units.allows(unit, d) || moved == placement) continue;
        ++possible;
        const Outcome outcome = reference->evaluate(moved);
        if (better(outcome, best)) best = outcome;
      }
      if (better(best, now)) helpful.push_back(best);
    }
    std::ranges::stable_sort(helpful, better);
    RC_ASSERT(found.possible == possible);
    RC_ASSERT(found.simulated == possible);
    RC_ASSERT(found.best.size() == std::min<std::size_t>(5, helpful.size()));
    for (std::size_t i = 0; i < found.best.size(); ++i) {
      RC_ASSERT(!better(found.best[i].outcome, helpful[i]) && !better(helpful[i], found.best[i].outcome));
      Placement moved = placement;
      for (const std::uint32_t member : found.best[i].ops)
        moved.device[member] = static_cast<std::uint8_t>(found.best[i].to.index());
      RC_ASSERT(reference->evaluate(moved) == found.best[i].outcome);
    }
  }));
}

}  // namespace
}  // namespace emplace::report::moves_test
