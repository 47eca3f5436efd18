// A worked example of two ops on two devices, on every engine.
#include <gtest/gtest.h>

#include <cmath>

#include "emplace/problem/builder.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace::simulate::example_test {
namespace {

// Two devices with 12 GB/s and 10 us each way; a (10 ms | 1 ms) sends 4096 bytes to b (10 ms | cannot).
Problem two_device_chain() {
  ProblemBuilder builder("two-device chain");
  const DeviceId cpu = builder.add_device({"cpu:0", "cpu", 68719476736});
  const DeviceId gpu = builder.add_device({"gpu:0", "gpu", 12884901888});
  const ChannelId h2d = builder.add_channel({"h2d", 1e-5, 1.2e10});
  const ChannelId d2h = builder.add_channel({"d2h", 1e-5, 1.2e10});
  builder.add_route(cpu, gpu, {h2d});
  builder.add_route(gpu, cpu, {d2h});
  const OpId a = builder.add_op({"a", "MatMul", {0.010, 0.001}, 0, 0, ""});
  const OpId b = builder.add_op({"b", "Relu", {0.010, std::nan("")}, 0, 0, ""});
  builder.add_tensor(a, 4096, {b});
  return builder.build();
}

TEST(TwoDeviceChain, TakesElevenMillisecondsAndOneTransfer) {
  // a ends at 1 ms; 4096 bytes take 10 us + 4096 / 12e9 s = 10.341333... us; b takes 10 ms: 11010341333 ps.
  const Problem problem = two_device_chain();
  for (const auto& engine :
       {make_reference_engine(problem, Schedule::fifo), make_exact_engine(problem, Schedule::fifo)}) {
    Usage usage;
    const Outcome outcome = engine->evaluate({{1, 0}, {}}, {.usage = &usage});
    EXPECT_EQ(outcome, (Outcome{.makespan = 11010341333}));
    EXPECT_EQ(usage.device_busy, (std::vector<Ticks>{10000000000, 1000000000}));
    EXPECT_EQ(usage.device_peak, (std::vector<Bytes>{4096, 4096}));
    EXPECT_EQ(usage.channel_busy, (std::vector<Ticks>{0, 10341333}));
    EXPECT_EQ(usage.channel_bytes, (std::vector<Bytes>{0, 4096}));
  }
}

}  // namespace
}  // namespace emplace::simulate::example_test
