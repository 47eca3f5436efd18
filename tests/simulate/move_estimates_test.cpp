// Estimates of moves from heads and tails, against simulations.
#include "simulate/estimate/move_estimates.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "emplace/base/random.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/incremental/incremental.hpp"
#include "tests/simulate/toy.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::simulate::move_estimates_test {
namespace {

using test::RandomPlacement;
using test::RandomProblem;
using test::Toy;

struct Simulated {
  Outcome outcome;
  std::vector<Ticks> starts;
};

Simulated simulated(const Problem& problem, const Placement& placement, Schedule schedule = Schedule::fifo) {
  Simulated result;
  result.outcome = make_exact_engine(problem, schedule)
                       ->evaluate(placement, {.usage = nullptr, .timeline = nullptr, .starts = &result.starts});
  return result;
}

Ticks path(MoveEstimates& estimates, const std::vector<std::uint32_t>& ops, std::uint8_t device) {
  estimates.choose(ops);
  return estimates.path_on(device);
}

// Ops of different devices that end at the same time may send over a shared channel in either order.
bool some_end_together(const Problem& problem, const Placement& placement, const std::vector<Ticks>& starts) {
  std::set<Ticks> ends;
  for (std::uint32_t op = 0; op < problem.op_count(); ++op)
    if (!ends.insert(starts[op] + problem.time(OpId{op}, DeviceId{placement.device[op]})).second) return true;
  return false;
}

TEST(MoveEstimates, AreTheStepTimeForTheCriticalOpsThatStayAndNeverMore) {
  EXPECT_TRUE(rc::check("all channels and schedules", [](const RandomProblem& genes, const RandomPlacement& placed) {
    const Problem problem = problem_of(genes);
    const Placement placement = placement_of(problem, placed);
    const auto schedule = *rc::gen::element(Schedule::fifo, Schedule::priority, Schedule::in_order);
    const Simulated run = simulated(problem, placement, schedule);
    RC_PRE(run.outcome.timed());
    RC_PRE(incremental_supports(problem) || !some_end_together(problem, placement, run.starts));
    MoveEstimates estimates(problem);
    estimates.set_run(placement.device, run.starts);
    Ticks longest = 0;
    for (std::uint32_t op = 0; op < problem.op_count(); ++op)
      longest = std::max(longest, path(estimates, {op}, placement.device[op]));
    RC_ASSERT(longest == run.outcome.makespan);
  }));
}

// a, b and c of 10 ticks on device 0 in a chain; a transfer takes 3 ticks over the bus of both devices. Device 1 takes
// `there` ticks for b.
Problem chain(Ticks there) {
  Toy toy(2);
  const ChannelId bus = toy.channel(2, 1);
  toy.route(0, 1, {bus});
  toy.route(1, 0, {bus});
  const OpId a = toy.op({10, 10}), b = toy.op({10, there}), c = toy.op({10, 10});
  toy.tensor(a, 1, {b});
  toy.tensor(b, 1, {c});
  return toy.build();
}

TEST(MoveEstimates, CountTransfersAndTheTimeOnTheOtherDevice) {
  for (const Ticks there : {1, 4, 9}) {
    const Problem problem = chain(there);
    const Placement placement{{0, 0, 0}, {}};
    MoveEstimates estimates(problem);
    estimates.set_run(placement.device, simulated(problem, placement).starts);
    EXPECT_EQ(path(estimates, {1}, 1), 10 + 3 + there + 3 + 10);
    EXPECT_EQ(path(estimates, {2}, 1), 10 + 10 + 3 + 10);
    EXPECT_EQ(path(estimates, {0, 1, 2}, 1), 10 + there + 10);
    EXPECT_EQ(path(estimates, {2, 0, 1}, 1), 10 + there + 10) << "in any order";
  }
}

// Layers of ops on devices of one bus, each op with one or two inputs of the layer before.
Problem layers(Stream& random) {
  constexpr std::size_t devices = 3, count = 12, width = 4;
  Toy toy(devices);
  const ChannelId bus = toy.channel(20, 1);
  for (std::size_t i = 0; i < devices; ++i)
    for (std::size_t j = 0; j < devices; ++j)
      if (i != j) toy.route(i, j, {bus});
  std::vector<OpId> before, now;
  for (std::size_t layer = 0; layer < count; ++layer) {
    now.clear();
    for (std::size_t i = 0; i < width; ++i) {
      const Ticks ticks = 100 + random.below(900);
      now.push_back(toy.op({ticks, ticks + random.below(100), ticks + random.below(100)}));
    }
    std::vector<std::vector<OpId>> consumers(width);
    for (const OpId op : now) {
      if (before.empty()) continue;
      const std::uint32_t first = random.below(width), second = random.below(width);
      consumers[first].push_back(op);
      if (second != first) consumers[second].push_back(op);
    }
    for (std::size_t i = 0; i < before.size(); ++i)
      if (!consumers[i].empty()) toy.tensor(before[i], 1 + random.below(100), consumers[i]);
    before = now;
  }
  return toy.build();
}

TEST(MoveEstimates, TellMostMovesThatShortenTheStepFromMostThatDoNot) {
  Stream random({.seed = 7});
  double shorter = 0, seen = 0, longer = 0, refused = 0;
  for (int i = 0; i < 100; ++i) {
    const Problem problem = layers(random);
    ASSERT_FALSE(incremental_supports(problem));
    Placement placement;
    for (std::size_t op = 0; op < problem.op_count(); ++op)
      placement.device.push_back(static_cast<std::uint8_t>(random.below(3)));
    const Simulated run = simulated(problem, placement);
    MoveEstimates estimates(problem);
    estimates.set_run(placement.device, run.starts);
    for (std::uint32_t op = 0; op < problem.op_count(); ++op) {
      Placement moved = placement;
      moved.device[op] = static_cast<std::uint8_t>((placement.device[op] + 1 + random.below(2)) % 3);
      const bool promising = path(estimates, {op}, moved.device[op]) <= run.outcome.makespan;
      if (simulated(problem, moved).outcome.makespan < run.outcome.makespan) {
        ++shorter;
        seen += promising;
      } else if (estimates.choose(std::vector{op}), estimates.path_on(placement.device[op]) == run.outcome.makespan) {
        ++longer;
        refused += !promising;
      }
    }
  }
  ASSERT_GT(shorter, 200);
  ASSERT_GT(longer, 200);
  EXPECT_GT(seen / shorter, 0.75);
  EXPECT_GT(refused / longer, 0.5);
  RecordProperty("seen", std::to_string(seen / shorter));
  RecordProperty("refused", std::to_string(refused / longer));
}

}  // namespace
}  // namespace emplace::simulate::move_estimates_test
