// Placeto's golden vectors: values of the original program (docs/simulators.md, section 5).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/simulate/published_microseconds.hpp"

namespace emplace::simulate::published_placeto_test {
namespace {

using test::expect_runs;
using test::M;
using test::Simulated;
using test::SimulatorExample;
using test::ticks;
using test::tolerance;
using ::testing::ElementsAre;

void expect_times(const Simulated& simulated, double last_op_end, double reported) {
  EXPECT_NEAR(simulated.last_op_end(), ticks(last_op_end), tolerance);
  EXPECT_NEAR(simulated.outcome.makespan, ticks(reported), tolerance);
  EXPECT_TRUE(simulated.outcome.feasible());
}

// a(100) -> b(200) -> c(300); no channels, as Placeto has its own.
struct Chain : SimulatorExample {
  OpId a, b, c;
  Chain(std::size_t device_of_b, Bytes of_a, Bytes of_b, Bytes of_c)
      : SimulatorExample(2, false), a(op(100, 0)), b(op(200, device_of_b)), c(op(300, 0)) {
    tensor(a, of_a, {b});
    tensor(b, of_b, {c});
    tensor(c, of_c, {});
  }
};

TEST(Placeto, T1LeavesAGapAfterEveryOp) {
  Chain t1(0, M, M, 0);
  const Simulated s = run(t1, "placeto");
  expect_times(s, 611.4, 617.1);
  expect_runs(s, t1.a, 0, 100);
  expect_runs(s, t1.b, 105.7, 305.7);
  expect_runs(s, t1.c, 311.4, 611.4);
}

TEST(Placeto, T2SendsThereAndBack) {
  Chain t2(1, M, M, 0);
  const Simulated s = run(t2, "placeto");
  expect_times(s, 2600, 2605.7);
  expect_runs(s, t2.b, 1100, 1300);
  expect_runs(s, t2.c, 2300, 2600);
}

TEST(Placeto, T3ServesTwoDevicesWithOneTransfer) {
  SimulatorExample t3(3, false);
  const OpId a = t3.op(100, 0), b = t3.op(200, 1), c = t3.op(300, 2);
  t3.tensor(a, M, {b, c});
  const Simulated s = run(t3, "placeto");
  expect_times(s, 1400, 1405.7);
  expect_runs(s, b, 1100, 1300);
  expect_runs(s, c, 1100, 1400);
  EXPECT_EQ(s.timeline.transfers.size(), 2U);  // the one transfer, once for each destination
  EXPECT_EQ(s.timeline.transfers[0].start, s.timeline.transfers[1].start);
}

TEST(Placeto, T4SendsTwoOutputsOneAfterTheOtherWithAChannelGap) {
  // 100 + 1000, free at 1125, then 2000.
  SimulatorExample t4(3, false);
  const OpId a = t4.op(100, 0), b = t4.op(200, 1), c = t4.op(300, 2);
  t4.tensor(a, M, {b});
  t4.tensor(a, 2 * M, {c});
  const Simulated s = run(t4, "placeto");
  expect_times(s, 3425, 3430.7);
  expect_runs(s, b, 1100, 1300);
  expect_runs(s, c, 3125, 3425);
}

TEST(Placeto, T5SendsFromTwoDevicesAtOnce) {
  SimulatorExample t5(3, false);
  const OpId a = t5.op(100, 0), b = t5.op(100, 1), c = t5.op(300, 2);
  t5.tensor(a, M, {c});
  t5.tensor(b, M, {c});
  const Simulated s = run(t5, "placeto");
  expect_times(s, 1400, 1405.7);
  expect_runs(s, c, 1100, 1400);
}

TEST(Placeto, T6LeavesNoGapAfterAnOpThatCostsNothing) {
  SimulatorExample t6(1, false);
  const OpId s0 = t6.op(0, 0), x = t6.op(50, 0), y = t6.op(70, 0), z = t6.op(10, 0);
  t6.tensor(s0, 0, {x, y});
  t6.tensor(x, 1000, {z});
  t6.tensor(y, 1000, {z});
  const Simulated s = run(t6, "placeto");
  expect_times(s, 141.4, 147.1);
  expect_runs(s, x, 0, 50);
  expect_runs(s, y, 55.7, 125.7);
  expect_runs(s, z, 131.4, 141.4);
  EXPECT_EQ(s.timeline.op_end[s0.index()], 0);  // exactly nothing, not a tick
}

TEST(Placeto, T7SharesOneOutputBetweenALocalAndARemoteConsumer) {
  SimulatorExample t7(2, false);
  const OpId s0 = t7.op(40, 0), x = t7.op(50, 0), y = t7.op(70, 1), z = t7.op(10, 0);
  t7.tensor(s0, 760000, {x, y});
  t7.tensor(x, 760000, {z});
  t7.tensor(y, 760000, {z});
  const Simulated s = run(t7, "placeto");
  expect_times(s, 320, 335.0);
  expect_runs(s, x, 45.7, 95.7);
  expect_runs(s, y, 140, 210);
  expect_runs(s, z, 310, 320);
}

TEST(Placeto, T8ReportsTheLastGapOfAChannel) {
  SimulatorExample t8(2, false);
  const OpId a = t8.op(10, 0), b = t8.op(10, 0), c = t8.op(5, 1), d = t8.op(5, 1);
  t8.tensor(a, M, {c});
  t8.tensor(b, M, {d});
  const Simulated s = run(t8, "placeto");
  expect_times(s, 2040, 2060.0);
  expect_runs(s, a, 0, 10);
  expect_runs(s, b, 15.7, 25.7);
  expect_runs(s, c, 1010, 1015);
  expect_runs(s, d, 2035, 2040);
}

TEST(Placeto, T9TreatsAControlEdgeAsOutput0) {
  SimulatorExample t9(2, false);
  const OpId a = t9.op(10, 0), b = t9.op(10, 1);
  t9.tensor(a, M, {});
  t9.tensor(a, 0, {b});
  const Simulated s = run(t9, "placeto");
  expect_times(s, 1020, 1035.0);
  expect_runs(s, b, 1010, 1020);
}

TEST(Placeto, T10OverlapsTransfersAndOps) {
  SimulatorExample t10(2, false);
  const OpId s0 = t10.op(10, 0), x = t10.op(20, 0), y = t10.op(20, 1), z = t10.op(5, 1), w = t10.op(5, 0);
  t10.tensor(s0, 7600, {x, y});
  t10.tensor(x, 7600, {z});
  t10.tensor(y, 7600, {z, w});
  const Simulated s = run(t10, "placeto");
  expect_times(s, 46.4, 62.0);
  expect_runs(s, x, 15.7, 35.7);
  expect_runs(s, y, 11, 31);
  expect_runs(s, z, 37, 42);
  expect_runs(s, w, 41.4, 46.4);
}

TEST(Placeto, T11UsesTheOutputThatIsListedLast) {
  for (const bool a0_first : {true, false}) {
    SimulatorExample t11(2, false);
    const OpId a = t11.op(100, 0), c = t11.op(300, 1);
    t11.tensor(a, a0_first ? M : M / 10, {c});
    t11.tensor(a, a0_first ? M / 10 : M, {c});
    const Simulated s = run(t11, "placeto");
    expect_times(s, a0_first ? 500 : 1400, a0_first ? 505.7 : 1405.7);
    expect_runs(s, c, a0_first ? 200 : 1100, a0_first ? 500 : 1400);
    EXPECT_EQ(s.timeline.transfers.size(), 1U);
  }
}

TEST(Placeto, T12LeavesAGapAfterAFloatOf0OnlyOnRequest) {
  // The original compares with the integer 0, so that a cost of 0.0 gets a gap. Here 0 s is 0 without a gap, unless the
  // option asks for one.
  for (const bool quirk : {false, true}) {
    SimulatorExample t12(1, false);
    const OpId a = t12.op(0, 0), b = t12.op(10, 0);
    t12.tensor(a, 0, {b});
    const Simulated s = run(t12, quirk ? "placeto?gap_after_zero_cost=true" : "placeto");
    expect_times(s, quirk ? 15.7 : 10, quirk ? 21.4 : 15.7);
    expect_runs(s, b, quirk ? 5.7 : 0, quirk ? 15.7 : 10);
  }
}

TEST(Placeto, M1CountsOutputsUntilTheirLastConsumerIsDone) {
  // a goes at int(105.7) + 200 - 1 = 304, before c starts: b and c together.
  Chain m1(0, 1000, 2000, 4000);
  const Simulated s = run(m1, "placeto");
  expect_times(s, 611.4, 617.1);
  EXPECT_THAT(s.usage.device_peak, ElementsAre(6000, 0));
}

TEST(Placeto, M2CountsNoCopiesAtReceivers) {
  Chain m2(1, 1000, 2000, 4000);
  const Simulated s = run(m2, "placeto");
  expect_times(s, 606.0947368421052 - 5.7, 606.0947368421052);
  EXPECT_THAT(s.usage.device_peak, ElementsAre(4000, 2000));
}

TEST(Placeto, M3CountsEachOutputOnce) {
  SimulatorExample m3(3, false);
  const OpId a = m3.op(100, 0), b = m3.op(200, 1), c = m3.op(300, 2);
  m3.tensor(a, M, {b, c});
  m3.tensor(b, 10, {});
  m3.tensor(c, 20, {});
  const Simulated s = run(m3, "placeto");
  expect_times(s, 1400, 1405.7);
  EXPECT_THAT(s.usage.device_peak, ElementsAre(7600000, 10, 20));
}

struct T13Op {
  double cost;
  Bytes bytes;
  std::size_t device;
  std::vector<std::size_t> producers;
};

const std::vector<T13Op> t13_ops = {
    {77, 302264, 2, {}},
    {285, 3666532, 2, {0}},
    {302, 3441865, 0, {}},
    {464, 1854219, 2, {0, 2}},
    {443, 3504434, 2, {}},
    {235, 547210, 2, {0, 4}},
    {500, 473459, 2, {3}},
    {350, 2051553, 1, {1, 5, 6}},
    {301, 1548940, 0, {0, 6}},
    {489, 2992016, 0, {0, 7}},
    {278, 1466621, 0, {2, 8}},
    {444, 3167127, 0, {10}},
    {99, 1137350, 2, {2, 4, 8, 9}},
    {395, 2108278, 1, {2, 6, 8, 9}},
    {544, 3444071, 2, {5, 6, 9, 11}},
    {190, 2873901, 0, {0, 5, 8, 13}},
};

// Producers are listed in `tensors` forwards or backwards: the order in which events of one instant come.
SimulatorExample t13(bool one_device, bool backwards) {
  SimulatorExample example(3, false);
  std::vector<OpId> ids;
  for (const T13Op& op : t13_ops) ids.push_back(example.op(op.cost, one_device ? 0 : op.device));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t producer = backwards ? ids.size() - 1 - i : i;
    std::vector<OpId> consumers;
    for (std::size_t op = 0; op < ids.size(); ++op)
      if (std::ranges::find(t13_ops[op].producers, producer) != t13_ops[op].producers.end())
        consumers.push_back(ids[op]);
    if (backwards) std::ranges::reverse(consumers);
    example.tensor(ids[producer], t13_ops[producer].bytes, consumers);
  }
  return example;
}

TEST(Placeto, T13RunsSixteenOpsOnThreeDevices) {
  for (const bool backwards : {false, true}) {
    SimulatorExample example = t13(false, backwards);
    const Simulated s = run(example, "placeto");
    expect_times(s, 4879.9885526, 4885.688552631578);
    for (const auto& [op, start] :
         {std::pair(1, 531.4), std::pair(3, 1062.8), std::pair(7, 2094.7972), std::pair(9, 3134.8972),
          std::pair(13, 4017.5836), std::pair(14, 4122.2836), std::pair(15, 4689.9886)})
      // docs/simulators.md gives these to 1e-4 us.
      EXPECT_NEAR(s.timeline.op_start[static_cast<std::size_t>(op)], ticks(start), 60) << op;
    EXPECT_THAT(s.usage.device_peak, ElementsAre(11149948, 2108278, 10348118));
  }
}

TEST(Placeto, T13OnOneDeviceIsTheSumOfCostsAndGaps) {
  SimulatorExample example = t13(true, false);
  const Simulated s = run(example, "placeto");
  EXPECT_NEAR(s.outcome.makespan, ticks(5487.2), tolerance);
  EXPECT_THAT(s.usage.device_peak, ElementsAre(15414159, 0, 0));
}

TEST(Placeto, OverflowsAndSplitGroupsAreReportedAsEverywhere) {
  Chain m1(0, 1000, 2000, 4000);
  m1.build();
  m1.problem.devices[0].memory = 5999;
  const auto engine = choose_simulator("placeto").make(m1.problem);
  const Outcome outcome = engine->evaluate(m1.placement);
  EXPECT_EQ(outcome.why, Infeasible::memory);
  EXPECT_EQ(outcome.overflow, 1);
  EXPECT_TRUE(outcome.timed());
}

}  // namespace
}  // namespace emplace::simulate::published_placeto_test
