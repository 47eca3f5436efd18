// The batch engine against the exact and the reference engine in-order, with every kernel that this processor runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/batch/batch.hpp"
#include "tests/simulate/toy.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::simulate::batch_test {
namespace {

using test::Joined;
using test::RandomPlacement;
using test::RandomProblem;
using test::Toy;

std::vector<const std::uint8_t*> pointers(const std::vector<Placement>& placements) {
  std::vector<const std::uint8_t*> devices;
  for (const Placement& placement : placements) devices.push_back(placement.device.data());
  return devices;
}

// Makes placements on `problem` from the random numbers, all with the order of the first.
std::vector<Placement> placements_of(const Problem& problem, const std::vector<RandomPlacement>& genes) {
  std::vector<Placement> placements;
  for (const RandomPlacement& random : genes) placements.push_back(placement_of(problem, random));
  for (Placement& placement : placements) placement.order = placements[0].order;
  return placements;
}

void assert_equal(const Problem& problem, const std::vector<Placement>& placements) {
  const auto reference = make_reference_engine(problem, Schedule::in_order);
  const auto exact = make_exact_engine(problem, Schedule::in_order);
  const std::vector<const std::uint8_t*> devices = pointers(placements);
  const std::size_t row = problem.device_count();
  for (const BatchKernel kernel : batch_kernels()) {
    const auto batch = make_batch_engine(problem, placements[0].order, kernel);
    std::vector<Outcome> outcomes(placements.size()), with_memory(placements.size());
    std::vector<Bytes> peaks(placements.size() * row);
    // Twice, because the first call must not change the result of the second.
    batch->evaluate(devices, outcomes);
    batch->evaluate(devices, with_memory, peaks);
    batch->evaluate(devices, outcomes);
    for (std::size_t i = 0; i < placements.size(); ++i) {
      Usage usage;
      const Outcome expected = reference->evaluate(placements[i], {.usage = &usage, .timeline = nullptr});
      RC_ASSERT(expected == exact->evaluate(placements[i]));
      RC_ASSERT(outcomes[i].makespan == expected.makespan);
      RC_ASSERT(outcomes[i] == expected);
      RC_ASSERT(with_memory[i] == expected);
      std::vector<Bytes> peak(peaks.begin() + static_cast<std::ptrdiff_t>(i * row),
                              peaks.begin() + static_cast<std::ptrdiff_t>((i + 1) * row));
      usage.device_peak.resize(row);
      RC_ASSERT(peak == usage.device_peak);
    }
  }
}

// Changes the problem so that the engine supports its network more often.
RandomProblem mostly_supported(RandomProblem random) {
  if (random.joined == Joined::bus || random.joined == Joined::nics || random.joined == Joined::shared_two_ways)
    random.joined = Joined::pairs;
  return random;
}

TEST(BatchEngine, EqualsTheReferenceInEveryLane) {
  EXPECT_TRUE(rc::check("batch", [](const RandomProblem& random) {
    const Problem problem = problem_of(mostly_supported(random));
    if (!batch_supports(problem)) RC_DISCARD();
    const auto genes = *rc::gen::nonEmpty(rc::gen::arbitrary<std::vector<RandomPlacement>>());
    assert_equal(problem, placements_of(problem, genes));
  }));
}

TEST(BatchEngine, JudgesMemoryLikeTheReferenceAroundThePeak) {
  EXPECT_TRUE(rc::check("memory limits within a few bytes of the peak", [](const RandomProblem& random) {
    Problem problem = problem_of(mostly_supported(random));
    if (!batch_supports(problem)) RC_DISCARD();
    const auto placements =
        placements_of(problem, *rc::gen::nonEmpty(rc::gen::arbitrary<std::vector<RandomPlacement>>()));
    Usage usage;
    make_reference_engine(problem, Schedule::in_order)->evaluate(placements[0], {.usage = &usage, .timeline = nullptr});
    for (std::size_t d = 0; d < problem.device_count(); ++d) {
      const Bytes peak = usage.device_peak.empty() ? 0 : usage.device_peak[d];
      const auto slack = *rc::gen::weightedElement<Bytes>({{3, 0}, {2, 1}, {2, -1}, {1, -3}, {1, no_memory_limit}});
      problem.devices[d].memory = slack == no_memory_limit ? slack : std::max<Bytes>(0, peak + slack);
    }
    assert_equal(problem, placements);
  }));
}

TEST(BatchEngine, CountsCutsLikeTheReference) {
  EXPECT_TRUE(rc::check("limits on cuts", [](const RandomProblem& random) {
    Problem problem = problem_of(mostly_supported(random));
    if (!batch_supports(problem)) RC_DISCARD();
    problem.max_cuts = *rc::gen::inRange<std::uint32_t>(0, 6);
    const auto memory = *rc::gen::element(Bytes{8}, Bytes{30}, no_memory_limit);
    for (Device& device : problem.devices) device.memory = memory;
    assert_equal(problem,
                 placements_of(problem, *rc::gen::nonEmpty(rc::gen::arbitrary<std::vector<RandomPlacement>>())));
  }));
}

// For every kernel, whether the placement is feasible if device `device` has `memory` bytes.
std::vector<bool> fits(Problem problem, const Placement& placement, std::size_t device, Bytes memory) {
  problem.devices[device].memory = memory;
  std::vector<bool> feasible;
  for (const BatchKernel kernel : batch_kernels()) {
    std::vector<Outcome> outcomes(1);
    make_batch_engine(problem, placement.order, kernel)->evaluate(pointers({placement}), outcomes);
    feasible.push_back(outcomes[0].feasible());
  }
  return feasible;
}

TEST(BatchEngine, CountsCopiesThatArriveBesideOpsFarBeforeThemInTheOrder) {
  // Device 1 runs `first` in [0, 10^6) with 1000 bytes of scratch, then 500 ops. Behind these in the order come ten ops
  // of device 0, each sending 7 bytes to the very last op on device 1: they arrive while `first` runs. 1070 bytes.
  Toy toy(2);
  toy.route(0, 1, {toy.channel(1, 1)});
  toy.route(1, 0, {toy.channel(1, 1)});
  Placement placement;
  toy.op({1'000'000, 1'000'000}, 0, 1000);
  placement.device.push_back(1);
  for (int i = 0; i < 500; ++i) toy.op({1, 1}), placement.device.push_back(1);
  std::vector<OpId> senders;
  for (int i = 0; i < 10; ++i) senders.push_back(toy.op({1, 1})), placement.device.push_back(0);
  const OpId last = toy.op({1, 1});
  placement.device.push_back(1);
  for (const OpId sender : senders) toy.tensor(sender, 7, {last});
  const Problem problem = toy.build();
  for (std::uint32_t op = 0; op < problem.op_count(); ++op) placement.order.push_back(op);
  EXPECT_THAT(fits(problem, placement, 1, 1070), ::testing::Each(true));
  EXPECT_THAT(fits(problem, placement, 1, 1069), ::testing::Each(false));
}

TEST(BatchEngine, HoldsAnOriginalUntilItIsSentHoweverManyOpsRunMeanwhile) {
  // Device 0 makes 100 bytes in [0, 1), which take 10^6 ticks to device 1. Meanwhile it runs 300 ops, the last 200 with
  // 50 bytes of scratch: 150 bytes. An op with 60 comes after the reply of device 1.
  for (const bool also_here : {false, true}) {
    Toy toy(2);
    toy.route(0, 1, {toy.channel(1, 10'000)});
    toy.route(1, 0, {toy.channel(1, 1)});
    const OpId maker = toy.op({1, 1});
    const OpId reader = toy.op({1, 1});
    Placement placement{{0, 0}, {}};
    for (int i = 0; i < 300; ++i) toy.op({1, 1}, 0, i < 100 ? 0 : 50), placement.device.push_back(0);
    const OpId far = toy.op({1, 1});
    const OpId after = toy.op({1, 1}, 0, 60);
    placement.device.insert(placement.device.end(), {1, 0});
    toy.tensor(maker, 100, also_here ? std::vector<OpId>{reader, far} : std::vector<OpId>{far});
    toy.tensor(far, 1, {after});
    const Problem problem = toy.build();
    for (std::uint32_t op = 0; op < problem.op_count(); ++op) placement.order.push_back(op);
    EXPECT_THAT(fits(problem, placement, 0, 150), ::testing::Each(true));
    EXPECT_THAT(fits(problem, placement, 0, 149), ::testing::Each(false));
  }
}

// Without groups, limits and tiny sizes, so that only the kernels are tested.
TEST(BatchEngine, EqualsTheExactEngineOnLargerProblems) {
  for (const std::uint32_t devices : {1U, 2U, 3U, 4U, 5U, 8U, 9U, 20U, 65U})
    // One kind of channel for all pairs; various ones; to the first device a channel of its own, to all others one that
    // they share, behind another one for each pair.
    for (const unsigned network : {0U, 1U, 2U}) {
      Stream random({.seed = 5, .purpose = Purpose::test, .update = devices, .index = network});
      Toy toy(devices);
      for (std::size_t i = 0; i < devices; ++i) {
        const auto to_others = network == 2 ? toy.channel(2, 1) : ChannelId{};
        for (std::size_t j = 0; j < devices; ++j) {
          if (i == j) continue;
          if (network == 0) toy.route(i, j, {toy.channel(3, 2)});
          if (network == 1)
            toy.route(i, j, {toy.channel(1 + random.below(9), 1 + random.below(3), random.below(4) != 0)});
          if (network == 2 && j == 0) toy.route(i, j, {toy.channel(1, 2)});
          if (network == 2 && j != 0) toy.route(i, j, {toy.channel(1 + random.below(3), 1), to_others});
        }
      }
      constexpr std::uint32_t ops = 1100;  // more than two stretches
      std::vector<std::vector<OpId>> consumers(ops);
      for (std::uint32_t op = 0; op < ops; ++op) {
        std::vector<Ticks> ticks(devices);
        for (Ticks& t : ticks) t = 1 + random.below(30);
        toy.op(ticks);
        for (std::uint32_t input = 0; input < 2 && op > 0; ++input) {
          std::vector<OpId>& to = consumers[op - 1 - random.below(std::min(op, 60U))];
          if (to.empty() || to.back() != OpId{op}) to.push_back(OpId{op});
        }
      }
      consumers[3].clear();  // tensor 3 gets many consumers
      for (std::uint32_t op = 4; op < 400; op += 3) consumers[3].push_back(OpId{op});
      for (std::uint32_t op = 0; op < ops; ++op) toy.tensor(OpId{op}, 1 + random.below(20), consumers[op]);
      const Problem problem = toy.build();
      std::vector<Placement> placements(35);
      for (Placement& placement : placements) {
        placement.order = problem.topological;
        for (std::uint32_t op = 0; op < ops; ++op)
          placement.device.push_back(static_cast<std::uint8_t>(random.below(devices)));
      }
      // Without limits; then with some that about half of the placements keep.
      Problem limited = problem;
      Usage usage;
      make_exact_engine(problem, Schedule::in_order)->evaluate(placements[0], {.usage = &usage, .timeline = nullptr});
      for (std::size_t d = 0; d < devices; ++d) limited.devices[d].memory = usage.device_peak[d] * 9 / 8;
      for (const Problem* p : {&problem, static_cast<const Problem*>(&limited)}) {
        const auto exact = make_exact_engine(*p, Schedule::in_order);
        for (const BatchKernel kernel : batch_kernels()) {
          std::vector<Outcome> outcomes(placements.size());
          make_batch_engine(*p, p->topological, kernel)->evaluate(pointers(placements), outcomes);
          for (std::size_t i = 0; i < placements.size(); ++i)
            ASSERT_EQ(outcomes[i], exact->evaluate(placements[i]))
                << devices << " devices, " << name_of(kernel) << ", placement " << i;
        }
      }
    }
}

TEST(BatchEngine, IsExactAtTimesThatFloatsCouldNotHold) {
  // One tick beside 2^52: 2^52 + 1 is a double, but no float.
  Toy toy(2);
  toy.route(0, 1, {toy.channel(1, 1)});
  toy.route(1, 0, {toy.channel(1, 1)});
  const Ticks large = Ticks{1} << 51;
  const OpId a = toy.op({large, large}), b = toy.op({large, large}), c = toy.op({1, 1});
  toy.tensor(a, 0, {b});
  toy.tensor(b, 0, {c});
  const Problem problem = toy.build();
  const std::vector<std::uint8_t> here{0, 0, 0}, apart{0, 0, 1};
  const std::vector<const std::uint8_t*> devices{here.data(), apart.data()};
  for (const BatchKernel kernel : batch_kernels()) {
    std::vector<Outcome> outcomes(2);
    make_batch_engine(problem, problem.topological, kernel)->evaluate(devices, outcomes);
    EXPECT_EQ(outcomes[0].makespan, 2 * large + 1);
    EXPECT_EQ(outcomes[1].makespan, 2 * large + 2);  // the transfer takes a tick
  }
}

TEST(BatchEngine, RefusesChannelsThatSeveralDevicesFeed) {
  Toy toy(2);
  const ChannelId bus = toy.channel(1, 1);
  toy.route(0, 1, {bus});
  toy.route(1, 0, {bus});
  toy.op({1, 1});
  const Problem problem = toy.build();
  EXPECT_FALSE(batch_supports(problem));
  try {
    make_batch_engine(problem, problem.topological);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("channel 'c0' carries what several devices send"));
  }
}

TEST(BatchEngine, TakesABusWithoutContention) {
  Toy toy(2);
  const ChannelId bus = toy.channel(1, 1, false);
  toy.route(0, 1, {bus});
  toy.route(1, 0, {bus});
  toy.op({1, 1});
  EXPECT_TRUE(batch_supports(toy.build()));
}

TEST(BatchEngine, RefusesTimesBeyondTheExactRangeOfItsLanes) {
  Toy toy(1);
  toy.op({Ticks{1} << 53});
  const Problem problem = toy.build();
  EXPECT_FALSE(batch_supports(problem));
  try {
    make_batch_engine(problem, problem.topological);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("less than 2^53 ps; these add up to 9.007e+15"));
  }
}

TEST(BatchEngine, RefusesAnOrderThatIsNone) {
  Toy toy(1);
  const OpId a = toy.op({1}), b = toy.op({1});
  toy.tensor(a, 0, {b});
  const Problem problem = toy.build();
  EXPECT_THROW(make_batch_engine(problem, std::vector<std::uint32_t>{0}), InputError);
  EXPECT_THROW(make_batch_engine(problem, std::vector<std::uint32_t>{1, 0}), InputError);
}

}  // namespace
}  // namespace emplace::simulate::batch_test
