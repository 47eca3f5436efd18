// Memory over time on a hand-worked step, and against the reference engine's peaks on random ones.
#include "simulate/timeline/memory_timeline.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "tests/simulate/toy.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::simulate::memory_timeline_test {
namespace {

using test::RandomPlacement;
using test::RandomProblem;
using test::Toy;
using Kind = Holding::Kind;
using Levels = std::vector<DeviceMemory::Level>;

TEST(MemoryTimeline, ShowsEveryRuleOfR5OnAStepOfThreeOps) {
  // Device 0: op0 0-2 (resident 100, scratch 10) makes t0 (5 bytes) for op1 on device 0 and op2 on device 1. t0 is sent
  // 2-8 (1 + 5 x 1). op1 2-3 makes t1 (7 bytes), which has no consumers. op2 8-12 (resident 1000).
  Toy toy(2);
  toy.route(0, 1, {toy.channel(1, 1)});
  const OpId op0 = toy.op({2, 2}, 100, 10), op1 = toy.op({1, 1}), op2 = toy.op({4, 4}, 1000);
  toy.tensor(op0, 5, {op1, op2});
  toy.tensor(op1, 7, {});
  const Problem problem = toy.build();
  const Placement placement{{0, 0, 1}, {}};
  const test::Answer answer = test::simulate(problem, placement);
  const auto held = holdings(problem, placement, answer.timeline);
  const DeviceId d0{0U}, d1{1U};
  EXPECT_EQ(held, (std::vector<Holding>{{Kind::resident, 0, d0, 0, 12, 100},
                                        {Kind::scratch, 0, d0, 0, 2, 10},
                                        {Kind::resident, 2, d1, 0, 12, 1000},
                                        {Kind::output, 0, d0, 0, 8, 5},  // until its send has ended
                                        {Kind::output, 1, d0, 2, 3, 7},  // no consumers: until op1 has ended
                                        {Kind::copy, 0, d1, 2, 12, 5}}));
  const auto memory = memory_timeline(problem, held);
  EXPECT_EQ(memory[0].levels, (Levels{{0, 115}, {2, 112}, {3, 105}, {8, 100}, {12, 0}}));
  EXPECT_EQ(memory[0].peak, 115);
  EXPECT_EQ(memory[0].peak_time, 0);
  EXPECT_EQ(memory[1].levels, (Levels{{0, 1000}, {2, 1005}, {12, 0}}));
  EXPECT_EQ(memory[1].peak_time, 2);
  EXPECT_EQ(answer.usage.device_peak, (std::vector<Bytes>{115, 1005}));
  EXPECT_EQ(alive_at(held, d0, 2), (std::vector<Holding>{held[0], held[4], held[3]})) << "largest first";
}

TEST(MemoryTimeline, IsFlatOnADeviceThatHoldsNothing) {
  Toy toy(2);
  toy.op({1, 1}, 3);
  const Problem problem = toy.build();
  const Placement placement{{0}, {}};
  const auto held = holdings(problem, placement, test::simulate(problem, placement).timeline);
  const auto memory = memory_timeline(problem, held);
  EXPECT_EQ(memory[1].levels, (Levels{{0, 0}}));
  EXPECT_EQ(memory[1].peak, 0);
  EXPECT_TRUE(alive_at(held, DeviceId{1U}, 0).empty());
}

TEST(MemoryTimeline, ThinnedKeepsTheHighestOfEachStretchAndTheLast) {
  // At most 3: two stretches, of times 0-4 and 5-9, and the end.
  const Levels levels{{0, 1}, {2, 7}, {4, 2}, {5, 3}, {8, 6}, {9, 0}};
  EXPECT_EQ(thinned(levels, 3), (Levels{{2, 7}, {8, 6}, {9, 0}}));
  EXPECT_EQ(thinned(levels, 6), levels);
}

TEST(MemoryTimeline, EqualsThePeaksOfTheReferenceEngineOnRandomProblems) {
  EXPECT_TRUE(rc::check("peaks", [](const RandomProblem& random, const RandomPlacement& genes) {
    const Problem problem = problem_of(random);
    const Placement placement = placement_of(problem, genes);
    const auto schedule = *rc::gen::element(Schedule::fifo, Schedule::priority, Schedule::in_order);
    Usage usage;
    Timeline timeline;
    const Outcome outcome = make_reference_engine(problem, schedule)->evaluate(placement, {&usage, &timeline});
    const auto held = holdings(problem, placement, timeline);
    if (!outcome.timed()) {
      RC_ASSERT(held.empty());
      return;
    }
    const auto memory = memory_timeline(problem, held);
    for (std::size_t d = 0; d < problem.device_count(); ++d) {
      RC_ASSERT(memory[d].peak == usage.device_peak[d]);
      const Levels& levels = memory[d].levels;
      RC_ASSERT(levels.front().time == 0);
      RC_ASSERT(levels.back().bytes == 0);
      RC_ASSERT(levels.back().time <= outcome.makespan);
      for (std::size_t i = 0; i < levels.size(); ++i) {
        if (i > 0) {
          RC_ASSERT(levels[i - 1].time < levels[i].time);
          RC_ASSERT(levels[i - 1].bytes != levels[i].bytes);
        }
        Bytes alive = 0;
        for (const Holding& holding : alive_at(held, DeviceId{d}, levels[i].time)) alive += holding.bytes;
        RC_ASSERT(alive == levels[i].bytes);
      }
    }
  }));
}

}  // namespace
}  // namespace emplace::simulate::memory_timeline_test
