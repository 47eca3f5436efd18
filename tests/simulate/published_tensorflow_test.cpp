// The simulator `tensorflow-1`: the host's dispatch, streams that run in order, and the notice of copies (S3, S11,
// S12), worked by hand. Rate 7600 bytes/us, latency 10 us: a tensor of M takes 1010 us.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/simulate/answers.hpp"
#include "tests/simulate/published_microseconds.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::simulate::published_tensorflow_test {
namespace {

using test::assert_equal;
using test::expect_runs;
using test::M;
using test::placement_of;
using test::RandomPlacement;
using test::RandomProblem;
using test::run;
using test::Simulated;
using test::SimulatorExample;
using test::ticks;

// The devices of SimulatorExample have no kind, so they are accelerators.

TEST(TensorFlow1, DispatchesKernelsOfAllAcceleratorsOneAfterTheOther) {
  SimulatorExample example(2);
  const OpId a = example.op(100, 0), b = example.op(100, 1), c = example.op(100, 1);
  const Simulated s = run(example, "tensorflow-1?dispatch_us=30");
  expect_runs(s, a, 30, 130);
  expect_runs(s, b, 60, 160);
  expect_runs(s, c, 160, 260);
}

TEST(TensorFlow1, DispatchesAheadOfAStreamSoThatLongKernelsHideIt) {
  SimulatorExample example(1);
  const OpId a = example.op(100, 0), b = example.op(100, 0), c = example.op(100, 0);
  example.tensor(a, M, {b});
  example.tensor(b, M, {c});
  expect_runs(run(example, "tensorflow-1?dispatch_us=30"), c, 230, 330);
  SimulatorExample again(1);
  const OpId d = again.op(100, 0), e = again.op(100, 0), f = again.op(100, 0);
  again.tensor(d, M, {e});
  again.tensor(e, M, {f});
  // Without streams the host learns only at the end of a kernel that the next one can be launched.
  expect_runs(run(again, "tensorflow-1?dispatch_us=30&streams=false"), f, 290, 390);
}

TEST(TensorFlow1, DoesNotDispatchOpsThatCostNothing) {
  SimulatorExample example(1);
  const OpId a = example.op(0, 0), b = example.op(100, 0);
  example.tensor(a, M, {b});
  expect_runs(run(example, "tensorflow-1?dispatch_us=30"), b, 30, 130);
}

TEST(TensorFlow1, RunsAStreamInTheOrderInWhichItsOpsWereEnqueued) {
  // a -> b -> c on one device is enqueued at once; d waits for a tensor of the other device, and so runs last, though
  // with fifo it would come before c: it is ready at 1015, while b runs.
  const auto chain = [](SimulatorExample& example) {
    const OpId source = example.op(5, 1);
    const OpId a = example.op(500, 0), b = example.op(600, 0), c = example.op(100, 0), d = example.op(100, 0);
    example.tensor(a, M, {b});
    example.tensor(b, M, {c});
    example.tensor(source, M, {d});
    return std::pair(c, d);
  };
  SimulatorExample streams(2), fifo(2);
  const auto [c, d] = chain(streams);
  const Simulated in_order = run(streams, "tensorflow-1?dispatch_us=0");
  expect_runs(in_order, c, 1100, 1200);
  expect_runs(in_order, d, 1200, 1300);
  chain(fifo);
  const Simulated by_time = run(fifo, "tensorflow-1?dispatch_us=0&streams=false");
  expect_runs(by_time, d, 1100, 1200);
  expect_runs(by_time, c, 1200, 1300);
}

TEST(TensorFlow1, TellsConsumersOnOtherDevicesLaterAndFreesTheChannelBefore) {
  SimulatorExample example(2);
  const OpId a = example.op(100, 0), b = example.op(100, 0), c = example.op(10, 1), d = example.op(10, 1);
  example.tensor(a, M, {c});
  example.tensor(b, M, {d});
  const Simulated s = run(example, "tensorflow-1?dispatch_us=0&notice_us=500");
  expect_runs(s, c, 1610, 1620);
  EXPECT_EQ(s.timeline.transfers.at(1).start, ticks(1110)) << "the first copy ends at 1110, its notice at 1610";
  expect_runs(s, d, 2620, 2630);
}

TEST(TensorFlow1, IsThisProgramsSimulatorWithoutItsSwitches) {
  EXPECT_TRUE(rc::check("without switches", [](const RandomProblem& random, const RandomPlacement& genes) {
    const Problem problem = problem_of(random);
    assert_equal(*choose_simulator("tensorflow-1?dispatch_us=0&streams=false").make(problem),
                 *make_reference_engine(problem, Schedule::fifo), placement_of(problem, genes));
  }));
}

TEST(TensorFlow1, NeverLeavesAGapInAStreamThatNeedsNothingFromOthers) {
  EXPECT_TRUE(rc::check("one device", [](const RandomProblem& random, const RandomPlacement& genes) {
    const Problem problem = problem_of(random);
    Placement placement = placement_of(problem, genes);
    std::ranges::fill(placement.device, std::uint8_t{0});
    Ticks sum = 0;
    for (std::size_t op = 0; op < problem.op_count(); ++op) {
      RC_PRE(problem.op_time[op * problem.device_count()] != cannot_run);
      sum += problem.op_time[op * problem.device_count()];
    }
    const auto engine = choose_simulator("tensorflow-1?dispatch_us=0").make(problem);
    const Outcome outcome = engine->evaluate(placement);
    if (outcome.timed()) RC_ASSERT(outcome.makespan == sum);
  }));
}

}  // namespace
}  // namespace emplace::simulate::published_tensorflow_test
