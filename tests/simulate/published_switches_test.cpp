// The worked examples of docs/simulators.md, section 5: `plain` with one switch changed at a time, and
// each other simulator on the same graphs. Rate 7600 bytes/us, latency 10 us: a tensor of M takes 1010 us.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulate/published_microseconds.hpp"

namespace emplace::simulate::published_switches_test {
namespace {

using test::expect_runs;
using test::M;
using test::run;
using test::Simulated;
using test::SimulatorExample;
using test::ticks;
using test::us;
using ::testing::ElementsAre;

// a(100)@0 sends one tensor of M bytes to b(200)@1, c(300)@2, e(100)@1.
struct X : SimulatorExample {
  OpId a, b, c, e;
  X() : SimulatorExample(3), a(op(100, 0)), b(op(200, 1)), c(op(300, 2)), e(op(100, 1)) { tensor(a, M, {b, c, e}); }
};

// a(100)@0 -> b(10)@1 and c(100)@2 -> d(10)@1, M bytes each.
struct Y : SimulatorExample {
  OpId a, b, c, d;
  Y() : SimulatorExample(3), a(op(100, 0)), b(op(10, 1)), c(op(100, 2)), d(op(10, 1)) {
    tensor(a, M, {b});
    tensor(c, M, {d});
  }
};

Simulated run_x(const std::string& options, double makespan) {
  X x;
  const Simulated s = run(x, "plain?" + options);
  EXPECT_EQ(s.outcome.makespan, ticks(makespan)) << options;
  return s;
}

TEST(PlainSwitches, GraphXWithOneTransferADevice) {
  const X ids;
  for (const char* scope : {"pair", "problem"}) {  // the problem has one channel per pair
    const Simulated s = run_x("channels=" + std::string(scope), 1410);
    expect_runs(s, ids.b, 1110, 1310);
    expect_runs(s, ids.e, 1310, 1410);
    expect_runs(s, ids.c, 1110, 1410);
    EXPECT_EQ(s.timeline.transfers.size(), 2U);
  }
}

TEST(PlainSwitches, GraphXOverOneOutgoingOrSharedChannel) {
  const X ids;
  for (const char* scope : {"egress", "shared"})
    expect_runs(run_x("channels=" + std::string(scope), 2420), ids.c, 2120, 2420);
}

TEST(PlainSwitches, GraphXWithOneTransferForAll) { run_x("fan_out=broadcast&channels=egress", 1410); }

TEST(PlainSwitches, GraphXWithOneTransferAnEdge) {
  const X ids;
  expect_runs(run_x("fan_out=edge&channels=pair", 2220), ids.e, 2120, 2220);
  expect_runs(run_x("fan_out=edge&channels=egress", 3430), ids.c, 3130, 3430);
  run_x("fan_out=edge&channels=none", 1410);
}

TEST(PlainSwitches, GraphXWithLatencyOnTheChannelOnly) {
  const X ids;
  run_x("latency=channel&channels=pair", 1400);
  expect_runs(run_x("latency=channel&channels=egress", 2410), ids.c, 2110, 2410);
  run_x("latency=off", 1400);
}

TEST(PlainSwitches, GraphXWithAGapAfterEachOp) {
  run_x("gap_us=5.7", 1415.7);
  run_x("gap_us=5.7&reported=event", 1421.4);
}

TEST(PlainSwitches, GraphYIsSlowerOnlyWhereDevicesShareTheirChannel) {
  for (const auto& [scope, makespan] :
       {std::pair("pair", 1130), std::pair("egress", 1130), std::pair("none", 1130), std::pair("shared", 2130)}) {
    Y y;
    const Simulated s = run(y, "plain?channels=" + std::string(scope));
    EXPECT_EQ(s.outcome.makespan, makespan * us) << scope;
    expect_runs(s, y.d, makespan - 10, makespan);
  }
}

TEST(PlainSwitches, AControlEdgeIsAMessageOrSharesOutput0OrIsFree) {
  // a -> f(10)@1 added to X. When f is ready: `b` and `e` are made consumers of others, so that device 1 is free.
  struct Case {
    const char* control;
    double ready;
  };
  for (const auto& [control, ready] :
       {Case{"zero", 1120}, Case{"4-bytes", 1120.000526}, Case{"full", 1110}, Case{"none", 100}}) {
    SimulatorExample x(3);
    const OpId a = x.op(100, 0), b = x.op(0.001, 1), c = x.op(300, 2), f = x.op(10, 1);
    x.tensor(a, M, {b, c});
    x.tensor(a, 0, {f});
    const Simulated s = run(x, "plain?channels=pair&control=" + std::string(control));
    // Under `full` b and f are ready at once, and b runs first.
    expect_runs(s, f, ready + (ready == 1110 ? 0.001 : 0), ready + 10 + (ready == 1110 ? 0.001 : 0));
    EXPECT_EQ(s.timeline.transfers.size(), ready == 1110 || ready == 100 ? 2U : 3U) << control;
  }
}

TEST(PlainSwitches, AControlEdgeWithoutAnyDataNeedsNoRouteWhereItIsFree) {
  SimulatorExample example(2, false);
  const OpId a = example.op(100, 0), b = example.op(10, 1);
  example.tensor(a, 0, {b});
  EXPECT_EQ(run(example, "plain?control=none").outcome.makespan, 110 * us);
  EXPECT_EQ(run(*choose_simulator("plain").make(example.problem), example.placement).outcome.why,
            Infeasible::missing_route);
}

TEST(PlainSwitches, OnlyTheLastOfSeveralTensorsBetweenTwoOpsCountsOnRequest) {
  // M and then M/10 between a and b over one channel: 100 + 1010 + 110 waits for both, 100 + 110 for the last.
  for (const auto& [repeated, start] : {std::pair("all", 1220), std::pair("last", 210)}) {
    SimulatorExample example(2);
    const OpId a = example.op(100, 0), b = example.op(10, 1);
    example.tensor(a, M, {b});
    example.tensor(a, M / 10, {b});
    expect_runs(run(example, "plain?repeated=" + std::string(repeated)), b, start, start + 10);
  }
}

TEST(PlainSwitches, MemoryModelsCountWhatTheySay) {
  // a(100)@0, resident 7, scratch 5, sends 1000 bytes to b@1 and c@1; b writes 300.
  const auto peaks = [](const std::string& options) {
    ProblemBuilder builder("memory");
    for (const char* name : {"d0", "d1"}) builder.add_device({name, "", no_memory_limit});
    const ChannelId channel = builder.add_channel({"c", 10e-6, 7.6e9, true});
    builder.add_route(DeviceId{0}, DeviceId{1}, {channel});
    const OpId a = builder.add_op({"a", "", {100e-6, 100e-6}, 7, 5, ""});
    const OpId b = builder.add_op({"b", "", {100e-6, 100e-6}, 0, 0, ""});
    const OpId c = builder.add_op({"c", "", {100e-6, 100e-6}, 2, 0, ""});
    builder.add_tensor(a, 1000, {b, c});
    builder.add_tensor(b, 300, {});
    const Problem problem = builder.build();
    return run(*choose_simulator("plain?" + options).make(problem), {{0, 1, 1}, {}}).usage.device_peak;
  };
  EXPECT_THAT(peaks("memory=plain"), ElementsAre(7 + 5 + 1000, 2 + 1000 + 300));
  EXPECT_THAT(peaks("memory=without-copies"), ElementsAre(7 + 5 + 1000, 2 + 300));
  EXPECT_THAT(peaks("memory=static"), ElementsAre(7, 2));
  EXPECT_THAT(peaks("memory=none"), ElementsAre(0, 0));
  EXPECT_THAT(peaks("memory=placeto"), ElementsAre(1000, 300));
  // A copy for each consumer.
  EXPECT_THAT(peaks("memory=plain&fan_out=edge&channels=none"), ElementsAre(7 + 5 + 1000, 2 + 2000 + 300));
}

TEST(Grappler, RunsTheOpThatBecameReadyLast) {
  // While x(100) runs, y becomes ready at 11 and z at 21, sent by p 0-10 and q 10-20 on the other device.
  SimulatorExample example(2);
  const OpId x = example.op(100, 0), y = example.op(10, 0), z = example.op(10, 0), p = example.op(10, 1),
             q = example.op(10, 1);
  example.tensor(p, 7600, {y});  // 1 us
  example.tensor(q, 7600, {z});
  example.tensor(p, 1, {q});
  SimulatorExample again = example;
  const Simulated s = run(example, "grappler");
  expect_runs(s, x, 0, 100);
  expect_runs(s, z, 100, 110);
  expect_runs(s, y, 110, 120);
  expect_runs(run(again, "grappler?ready=fifo"), y, 100, 110);
}

TEST(Grappler, SendsWithoutLatencyAt12GBASecondWhereNoRouteSaysOtherwise) {
  X x;
  EXPECT_EQ(run(x, "grappler").outcome.makespan, 1400 * us);
  // Without routes 12,000,000 bytes take 1000 us, and a control edge of 4 bytes 1/3 ns.
  SimulatorExample example(2, false);
  const OpId a = example.op(100, 0), b = example.op(10, 1), f = example.op(10, 1);
  example.tensor(a, 12000000, {b});
  example.tensor(a, 0, {f});
  const Simulated s = run(example, "grappler");
  expect_runs(s, b, 1100, 1110);
  ASSERT_EQ(s.timeline.transfers.size(), 2U);
  EXPECT_EQ(s.timeline.transfers[1].end - s.timeline.transfers[1].start, 333);
}

TEST(Baechi, SharesOneChannelADeviceAndPaysATimesBytesPlusB) {
  // 7,600,000 x 0.0001754 + 134 = 1333.04 + 134 = 1467.04 us; Y's second transfer waits for the first.
  Y y;
  const Simulated s = run(y, "baechi");
  expect_runs(s, y.b, 1567.04, 1577.04);
  expect_runs(s, y.d, 100 + 2 * 1467.04, 110 + 2 * 1467.04);
  Y other;
  EXPECT_EQ(run(other, "baechi?latency_us=0&us_per_byte=0.001").outcome.makespan, (100 + 2 * 7600 + 10) * us);
}

TEST(Giph, SendsEachEdgeWithoutWaiting) {
  X x;
  const Simulated s = run(x, "giph");
  EXPECT_EQ(s.outcome.makespan, 1410 * us);
  EXPECT_EQ(s.timeline.transfers.size(), 3U);
  EXPECT_THAT(s.usage.device_peak, ElementsAre(0, 0, 0));
}

TEST(Giph, NoiseIsAFactorPerOpFromTheSeed) {
  const auto times = [](const std::string& options) {
    SimulatorExample example(1);
    for (int i = 0; i < 400; ++i) example.op(100, 0);
    const Simulated s = run(example, "giph?" + options);
    std::vector<double> result;
    for (std::size_t op = 0; op < 400; ++op)
      result.push_back(static_cast<double>(s.timeline.op_end[op] - s.timeline.op_start[op]) / (100.0 * us));
    return result;
  };
  const auto uniform = times("noise=uniform&noise_level=0.25&seed=1");
  EXPECT_EQ(uniform, times("noise=uniform&noise_level=0.25&seed=1"));
  EXPECT_NE(uniform, times("noise=uniform&noise_level=0.25&seed=2"));
  double mean = 0, low = 1, high = 1;
  for (const double factor : uniform) {
    mean += factor / 400;
    low = std::min(low, factor);
    high = std::max(high, factor);
  }
  // Standard error of the mean: 0.25 / sqrt(3 * 400) = 0.0072.
  EXPECT_NEAR(mean, 1, 0.03);
  EXPECT_GE(low, 0.75);
  EXPECT_LE(high, 1.25);
  EXPECT_LT(low, 0.78);
  EXPECT_GT(high, 1.22);
  double variance = 0;
  for (const double factor : times("noise=normal&noise_level=0.1&seed=1"))
    variance += (factor - 1) * (factor - 1) / 400;
  // 0.01; the standard error of a variance is sqrt(2 / 400) of it.
  EXPECT_NEAR(variance, 0.01, 0.003);
}

TEST(Doppler, PaysTheProducersCostForEveryEdge) {
  // 100 + 4 x 100: b and c at 500; e after b.
  X x;
  const Simulated s = run(x, "doppler");
  expect_runs(s, x.b, 500, 700);
  expect_runs(s, x.c, 500, 800);
  expect_runs(s, x.e, 700, 800);
  X other;
  EXPECT_EQ(run(other, "doppler?transfer_factor=1").outcome.makespan, 500 * us);
}

TEST(Quickp, HasNoLatencyAndTakesPriorities) {
  X x;
  const Simulated s = run(x, "quickp");
  EXPECT_EQ(s.outcome.makespan, 1400 * us);
  expect_runs(s, x.b, 1100, 1300);
  Placement placement = x.placement;
  placement.order = {0, 3, 2, 1};
  expect_runs(run(*choose_simulator("quickp").make(x.problem, Schedule::priority), placement), x.e, 1100, 1200);
}

}  // namespace
}  // namespace emplace::simulate::published_switches_test
