// The incremental engine against the exact engine run in-order, on random problems full of ties.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <tuple>

#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/incremental/incremental.hpp"
#include "tests/simulate/toy.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::simulate::incremental_test {
namespace {

using test::RandomPlacement;
using test::RandomProblem;
using test::Toy;

// The result of the trial is that of the exact engine, in those parts that the trial marks as exact.
void assert_trial(const MoveEvaluation& trial, const Outcome& exact) {
  if (trial.memory_settled) {
    RC_ASSERT(trial.outcome == exact);
    return;
  }
  RC_ASSERT(trial.outcome.makespan == exact.makespan);
  Outcome without_memory = exact;
  without_memory.overflow = 0;
  if (exact.why == Infeasible::memory) without_memory = {.makespan = exact.makespan};
  RC_ASSERT(trial.outcome == without_memory);
}

struct Move {
  std::vector<std::uint32_t> ops;
  std::uint8_t device;
};

// One op, several (also twice the same), or a whole co-location group.
Move random_move(const Problem& problem, Stream& random) {
  Move move;
  const auto ops = static_cast<std::uint32_t>(problem.op_count());
  const std::uint32_t count = random.below(3) == 0 ? 1 + random.below(4) : 1;
  for (std::uint32_t i = 0; i < count; ++i) move.ops.push_back(random.below(ops));
  const GroupId group = problem.group[move.ops[0]];
  if (!group.is_none() && random.below(4) != 0) {
    move.ops.clear();
    for (std::uint32_t op = 0; op < ops; ++op)
      if (problem.group[op] == group) move.ops.push_back(op);
  }
  move.device = static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(problem.device_count())));
  return move;
}

// A long sequence of trials and commits, each compared with the exact engine; some commits are undone, some moves go to
// two devices at once.
void follow(const Problem& problem, const Placement& start, std::size_t moves, Stream& random) {
  const auto exact = make_exact_engine(problem, Schedule::in_order);
  const auto incremental = make_incremental_engine(problem);
  Placement base = start;
  if (random.below(2) == 0)
    RC_ASSERT(incremental->set_base(base) == exact->evaluate(base));
  else
    incremental->set_base(base, exact->evaluate(base));
  for (std::size_t i = 0; i < moves; ++i) {
    const Move move = random_move(problem, random);
    Placement moved = base;
    for (const std::uint32_t op : move.ops) moved.device[op] = move.device;
    std::vector<Relocation> relocations{{move.ops, move.device}};
    const Move other = random_move(problem, random);
    const bool apart = std::ranges::find_first_of(move.ops, other.ops) == move.ops.end();
    if (apart && random.below(3) == 0) {
      for (const std::uint32_t op : other.ops) moved.device[op] = other.device;
      relocations.push_back({other.ops, other.device});
    }
    const Outcome expected = exact->evaluate(moved);
    assert_trial(incremental->try_moves(relocations), expected);
    RC_ASSERT(incremental->base() == base);
    if (random.below(3) == 0) RC_ASSERT(incremental->settle() == expected);
    if (random.below(3) != 0) continue;
    RC_ASSERT(incremental->commit() == expected);
    RC_ASSERT(incremental->base() == moved);
    RC_ASSERT(incremental->outcome() == expected);
    std::swap(base, moved);
    if (relocations.size() + move.ops.size() != 2 || random.below(2) != 0) continue;
    RC_ASSERT(incremental->move(move.ops, moved.device[move.ops[0]]) == exact->evaluate(moved));
    base = moved;
  }
  RC_ASSERT(incremental->set_base(start) == exact->evaluate(start));
}

TEST(IncrementalEngine, EqualsTheExactEngineOverTrialsAndCommits) {
  EXPECT_TRUE(rc::check("small problems", [](const RandomProblem& genes, const RandomPlacement& placement) {
    const Problem problem = problem_of(genes);
    RC_PRE(incremental_supports(problem));
    Stream random({.seed = *rc::gen::arbitrary<std::uint64_t>()});
    follow(problem, placement_of(problem, placement), 25, random);
  }));
}

TEST(IncrementalEngine, JudgesMemoryLikeTheExactEngine) {
  EXPECT_TRUE(rc::check("limits near the peaks", [](const RandomProblem& genes, const RandomPlacement& placement) {
    Problem problem = problem_of(genes);
    RC_PRE(incremental_supports(problem));
    const Placement start = placement_of(problem, placement);
    Usage usage;
    make_exact_engine(problem, Schedule::in_order)->evaluate(start, {.usage = &usage, .timeline = nullptr});
    for (std::size_t d = 0; d < usage.device_peak.size(); ++d) {
      const auto slack = *rc::gen::weightedElement<Bytes>({{3, 0}, {2, 20}, {1, 1000}, {1, -3}, {1, no_memory_limit}});
      problem.devices[d].memory = slack == no_memory_limit ? slack : std::max<Bytes>(0, usage.device_peak[d] + slack);
    }
    Stream random({.seed = *rc::gen::arbitrary<std::uint64_t>()});
    follow(problem, start, 15, random);
  }));
}

TEST(IncrementalEngine, CountsCutsLikeTheExactEngine) {
  EXPECT_TRUE(rc::check("limits on cuts", [](const RandomProblem& genes, const RandomPlacement& placement) {
    Problem problem = problem_of(genes);
    RC_PRE(incremental_supports(problem));
    problem.max_cuts = *rc::gen::inRange<std::uint32_t>(0, 6);
    const auto memory = *rc::gen::element(Bytes{8}, Bytes{30}, no_memory_limit);
    for (Device& device : problem.devices) device.memory = memory;
    Stream random({.seed = *rc::gen::arbitrary<std::uint64_t>()});
    follow(problem, placement_of(problem, placement), 25, random);
  }));
}

// Large enough for many checkpoints and for runs that become equal to the base again. Op times and sizes have few
// values, so that ties are frequent. Each pair of devices has a channel, or each device one channel for all that it
// sends. If latencies are long, an op waits for tensors sent many positions before it.
Problem long_problem(Stream& random, std::size_t devices, bool shared_way_out, std::uint32_t window) {
  Toy toy(devices);
  const std::uint32_t latency = random.below(3) == 0 ? 200 : 4;
  for (std::size_t i = 0; i < devices; ++i) {
    const ChannelId out = shared_way_out ? toy.channel(2, 1) : ChannelId{};
    for (std::size_t j = 0; j < devices; ++j)
      if (i != j) toy.route(i, j, {shared_way_out ? out : toy.channel(random.below(latency), 1, random.below(3) != 0)});
  }
  const std::uint32_t ops = 200 + random.below(400);
  std::vector<std::vector<OpId>> consumers(ops);
  for (std::uint32_t op = 0; op < ops; ++op) {
    std::vector<Ticks> ticks;
    for (std::size_t d = 0; d < devices; ++d) ticks.push_back(1 + random.below(8));
    toy.op(ticks, 0, 0, random.below(20) == 0 ? "g" + std::to_string(random.below(5)) : "");
    for (std::uint32_t inputs = random.below(4); op > 0 && inputs > 0; --inputs) {
      const std::uint32_t reach = random.below(30) == 0 ? op : std::min(op, window);
      auto& to = consumers[op - 1 - random.below(reach)];
      if (to.empty() || to.back() != OpId{op}) to.push_back(OpId{op});
    }
  }
  const std::uint32_t bytes = random.below(3) == 0 ? 30 : 6;
  for (std::uint32_t op = 0; op < ops; ++op) toy.tensor(OpId{op}, random.below(bytes), consumers[op]);
  return toy.build();
}

TEST(IncrementalEngine, EqualsTheExactEngineWhereRunsAgreeAgain) {
  EXPECT_TRUE(rc::check("hundreds of ops", [] {
    Stream random({.seed = *rc::gen::arbitrary<std::uint64_t>()});
    const std::size_t devices = 1 + random.below(5);
    const Problem problem = long_problem(random, devices, random.below(3) == 0, 1 + random.below(40));
    Placement start{std::vector<std::uint8_t>(problem.op_count()), problem.topological};
    for (std::uint8_t& device : start.device)
      device = static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(devices)));
    follow(problem, start, 20, random);
  }));
}

TEST(IncrementalEngine, ShiftsWhatFollowsAMovedOp) {
  // A chain a, b, c of 3, 4 and 5 ticks (b: 2 on device 1), 1 tick per transfer. All on device 0: 12. With b on device
  // 1: a 0-3, sent 3-4, b 4-6, sent 6-7, c 7-12: 12. With b and c there: c (9 on device 1) 6-15.
  Toy toy(2);
  toy.route(0, 1, {toy.channel(1, 1)});
  toy.route(1, 0, {toy.channel(1, 1)});
  const OpId a = toy.op({3, 3}), b = toy.op({4, 2}), c = toy.op({5, 9});
  toy.tensor(a, 0, {b});
  toy.tensor(b, 0, {c});
  const Problem problem = toy.build();
  const auto engine = make_incremental_engine(problem);
  EXPECT_EQ(engine->set_base({{0, 0, 0}, {0, 1, 2}}).makespan, 12);
  EXPECT_EQ(engine->try_move(std::vector{b.value}, 1).outcome.makespan, 12);
  EXPECT_EQ(engine->try_move(std::vector{b.value, c.value}, 1).outcome.makespan, 15);
  EXPECT_EQ(engine->outcome().makespan, 12);
  EXPECT_EQ(engine->commit().makespan, 15);
  EXPECT_EQ(engine->base().device, (std::vector<std::uint8_t>{0, 1, 1}));
  EXPECT_EQ(engine->move(std::vector{b.value, c.value}, 0).makespan, 12);
}

TEST(IncrementalEngine, KeepsWhatWasSentLongBeforeTheMovedOp) {
  // Device 1 runs `early` (1 tick) and sends to `late`, the last op of device 0: there it arrives at 1 + latency.
  // Device 0 runs 60 ops of 1 tick, of which the 20th lasts 5 where it is not moved to device 1: late could start at
  // 64 or, after the move, at 59.
  for (const auto& [latency, before, after] :
       {std::tuple<Ticks, Ticks, Ticks>{1000, 1002, 1002}, {62, 65, 64}, {60, 65, 62}, {10, 65, 60}}) {
    Toy toy(2);
    toy.route(1, 0, {toy.channel(latency, 1)});
    toy.route(0, 1, {toy.channel(1, 1)});
    const OpId early = toy.op({1, 1});
    std::vector<std::uint32_t> order = {early.value};
    for (int i = 1; i <= 60; ++i) order.push_back(toy.op({i == 20 ? 5 : 1, 5}).value);
    const OpId late = toy.op({1, 1});
    order.push_back(late.value);
    toy.tensor(early, 0, {late});
    const Problem problem = toy.build();
    std::vector<std::uint8_t> device(problem.op_count(), 0);
    device[early.index()] = 1;
    const auto engine = make_incremental_engine(problem);
    EXPECT_EQ(engine->set_base({device, order}).makespan, before);
    EXPECT_EQ(engine->move(std::vector{order[20]}, 1).makespan, after);
    EXPECT_EQ(engine->try_move(std::vector{order[20]}, 0).outcome.makespan, before);
  }
}

TEST(IncrementalEngine, KeepsWhatWaitsForDifferentReasonsOneAfterTheOther) {
  // Device 1 runs u1 0-1 and u2 1-2. Device 0 runs v 0-5, 36 ops of 1 tick, late1 41-42, 20 ops, late2 62-63, 20 ops:
  // 83. u1's tensor is there at 1 + 37 = 38 for late1, 3 ticks early; u2's at 2 + 58 = 60 for late2, 2 ticks early.
  // Without v all could be 5 ticks earlier, but late1 starts at 38 (-3), and late2 at 60 (-2): 60 + 1 + 20 = 81.
  Toy toy(3);
  toy.route(1, 0, {toy.channel(0, 1, false)});
  const OpId u1 = toy.op({1, 1, 1}), u2 = toy.op({1, 1, 1}), v = toy.op({5, 5, 5});
  Placement base{{1, 1, 0}, {u1.value, u2.value, v.value}};
  const auto add = [&] {
    const OpId op = toy.op({1, 1, 1});
    base.device.push_back(0);
    base.order.push_back(op.value);
    return op;
  };
  for (int i = 0; i < 36; ++i) add();
  const OpId late1 = add();
  for (int i = 0; i < 20; ++i) add();
  const OpId late2 = add();
  for (int i = 0; i < 20; ++i) add();
  toy.tensor(u1, 37, {late1});
  toy.tensor(u2, 58, {late2});
  const Problem problem = toy.build();
  const auto engine = make_incremental_engine(problem);
  EXPECT_EQ(engine->set_base(base).makespan, 83);
  EXPECT_EQ(engine->try_move(std::vector{v.value}, 2).outcome.makespan, 81);
}

TEST(IncrementalEngine, SaysWhenOnlyAFullSimulationKnowsTheMemory) {
  // A chain; each op writes 10 bytes, which are gone when its reader has ended: never more than 20 are alive (what an
  // op reads and writes), but all three together are 30.
  Toy toy(2);
  toy.route(0, 1, {toy.channel(1, 1)});
  toy.route(1, 0, {toy.channel(1, 1)});
  const OpId a = toy.op({1, 1}), b = toy.op({1, 1}), c = toy.op({1, 1});
  toy.tensor(a, 10, {b});
  toy.tensor(b, 10, {c});
  toy.tensor(c, 10, {});
  Problem problem = toy.build();
  const Placement spread{{0, 0, 1}, {0, 1, 2}};
  problem.devices[0].memory = 30;
  auto engine = make_incremental_engine(problem);
  EXPECT_TRUE(engine->set_base(spread).feasible());
  EXPECT_TRUE(engine->try_move(std::vector{c.value}, 0).memory_settled);  // they fit even if all were alive at once
  problem.devices[0].memory = 20;
  engine = make_incremental_engine(problem);
  engine->set_base(spread);
  EXPECT_FALSE(engine->try_move(std::vector{c.value}, 0).memory_settled);
  EXPECT_TRUE(engine->settle().feasible());
  problem.devices[0].memory = 19;
  engine = make_incremental_engine(problem);
  engine->set_base({{1, 0, 1}, {0, 1, 2}});
  EXPECT_FALSE(engine->try_move(std::vector{a.value}, 0).memory_settled);
  EXPECT_EQ(engine->settle().why, Infeasible::memory);
  EXPECT_EQ(engine->settle().overflow, 1);
  EXPECT_EQ(engine->commit().overflow, 1);
}

TEST(IncrementalEngine, RefusesChannelsFedByTwoDevices) {
  Toy toy(2);
  const ChannelId bus = toy.channel(1, 1);
  toy.route(0, 1, {bus});
  toy.route(1, 0, {bus});
  toy.op({1, 1});
  const Problem problem = toy.build();
  EXPECT_FALSE(incremental_supports(problem));
  try {
    make_incremental_engine(problem);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("only one device may send"), std::string::npos) << error.what();
  }
}

TEST(IncrementalEngine, NeedsAnOrder) {
  Toy toy(1);
  toy.op({1});
  const Problem problem = toy.build();
  const auto engine = make_incremental_engine(problem);
  EXPECT_THROW(engine->set_base({{0}, {}}), InputError);
  EXPECT_THROW(engine->try_move(std::vector<std::uint32_t>{0}, 0), BugError);
}

}  // namespace
}  // namespace emplace::simulate::incremental_test
