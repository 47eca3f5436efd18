// An engine allocates no memory after its first evaluation; operator new of this program counts allocations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "emplace/base/random.hpp"
#include "emplace/problem/builder.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/batch/batch.hpp"
#include "simulate/incremental/incremental.hpp"
#include "tests/support/allocations.hpp"

namespace emplace::simulate::allocation_test {
namespace {

// 300 ops with one or two inputs on 4 devices with little memory; a bus, or a channel per pair.
Problem some_problem(bool bus) {
  Stream random({.seed = 7, .index = bus});
  ProblemBuilder builder("some");
  for (const char* name : {"a", "b", "c", "d"}) builder.add_device({name, "", 2000});
  std::vector<ChannelId> channels;
  for (std::size_t i = 0; i < (bus ? 1 : 12); ++i)
    channels.push_back(builder.add_channel({"c" + std::to_string(i), 1e-12, 1e12}));
  std::size_t pair = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      if (i != j) builder.add_route(DeviceId{i}, DeviceId{j}, {channels[bus ? 0 : pair++]});
  std::vector<std::vector<OpId>> consumers(300);
  for (std::uint32_t op = 0; op < 300; ++op) {
    builder.add_op({"op" + std::to_string(op), "", std::vector<double>(4, (1 + random.below(20)) * 1e-12), 1, 5, ""});
    for (std::uint32_t input = 0; op > 0 && input < 2; ++input)
      if (auto& to = consumers[random.below(op)]; to.empty() || to.back() != OpId{op}) to.push_back(OpId{op});
  }
  for (std::uint32_t op = 0; op < 300; ++op) builder.add_tensor(OpId{op}, random.below(30), consumers[op]);
  return builder.build();
}

TEST(ExactEngine, AllocatesNothingAfterItsFirstEvaluation) {
  for (const bool bus : {false, true}) {
    const Problem problem = some_problem(bus);
    std::vector<Placement> placements;
    for (std::uint32_t k = 0; k < 20; ++k) {
      Stream random({.seed = 8, .index = k});
      placements.push_back({{}, problem.topological});
      // The first uses one device only: no transfers, so the least memory of all.
      for (std::size_t op = 0; op < problem.op_count(); ++op)
        placements.back().device.push_back(static_cast<std::uint8_t>(k == 0 ? 0 : random.below(4)));
    }
    for (const Schedule schedule : {Schedule::fifo, Schedule::priority, Schedule::in_order}) {
      const auto engine = make_exact_engine(problem, schedule);
      Usage usage;
      const Want want{.usage = &usage, .timeline = nullptr};
      engine->evaluate(placements[0], want);
      const std::size_t before = test::allocations();
      for (const Placement& placement : placements) {
        engine->evaluate(placement);
        engine->evaluate(placement, want);
      }
      EXPECT_EQ(test::allocations(), before) << name_of(schedule) << (bus ? " on a bus" : " on pairs");
    }
  }
}

TEST(IncrementalEngine, AllocatesNothingAfterItsFirstBase) {
  const Problem problem = some_problem(false);
  const Placement base{std::vector<std::uint8_t>(problem.op_count(), 0), problem.topological};
  const auto engine = make_incremental_engine(problem);
  engine->set_base(base);
  const std::size_t before = test::allocations();
  Stream random({.seed = 9});
  for (int i = 0; i < 500; ++i) {
    // Neighbours in the order, more and more of them: memory is limited, so that some trials need the exact engine.
    const std::uint32_t first = random.below(300);
    const std::uint32_t count = 1 + random.below(std::min(300 - first, 1 + static_cast<std::uint32_t>(i) / 2));
    const std::span<const std::uint32_t> ops{&base.order[first], count};
    engine->try_move(ops, static_cast<std::uint8_t>(random.below(4)));
    if (i % 5 == 0) engine->commit();
    if (i % 50 == 0) engine->set_base(base);
  }
  EXPECT_EQ(test::allocations(), before);
}

TEST(BatchEngine, AllocatesNothingAfterItsFirstEvaluation) {
  const Problem problem = some_problem(false);
  std::vector<std::vector<std::uint8_t>> placements(40, std::vector<std::uint8_t>(problem.op_count(), 0));
  Stream random({.seed = 9});
  std::vector<const std::uint8_t*> devices;
  for (std::vector<std::uint8_t>& placement : placements) {
    // The first uses one device only.
    if (&placement != &placements[0])
      for (std::uint8_t& device : placement) device = static_cast<std::uint8_t>(random.below(4));
    devices.push_back(placement.data());
  }
  std::vector<Outcome> outcomes(devices.size());
  std::vector<Bytes> peaks(devices.size() * problem.device_count());
  for (const BatchKernel kernel : batch_kernels()) {
    const auto engine = make_batch_engine(problem, problem.topological, kernel);
    engine->evaluate({devices.data(), 1}, {outcomes.data(), 1}, {peaks.data(), 4});
    const std::size_t before = test::allocations();
    engine->evaluate(devices, outcomes);
    engine->evaluate(devices, outcomes, peaks);
    EXPECT_EQ(test::allocations(), before) << name_of(kernel);
  }
}

}  // namespace
}  // namespace emplace::simulate::allocation_test
