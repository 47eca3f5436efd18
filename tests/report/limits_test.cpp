// What limits a step: cases worked by hand, one for each kind of limit; laws on random problems.
#include "report/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdlib>

#include "emplace/simulate/engine.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::report::limits_test {
namespace {

using test::no;
using test::plain_devices;
using test::tiny;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<Limit> fifo_limits(const Problem& problem, const std::vector<std::uint8_t>& device) {
  return limits_of(problem, {device, {}}, Schedule::fifo);
}

TEST(Limits, OfAStepOnOneDeviceAreThatDevice) {
  // Three ops of 10 ms without tensors: 30 ms, of which a chain is 10 ms.
  const Problem problem = tiny(plain_devices(2), {{"a", {10, 10}}, {"b", {10, 10}}, {"c", {10, 10}}}, {});
  const std::vector<Limit> limits = fifo_limits(problem, {0, 0, 0});
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0].kind, LimitKind::device);
  EXPECT_EQ(limits[0].name, "gpu:0");
  EXPECT_EQ(limits[0].share, 1);
  EXPECT_EQ(limits[0].slack, 0);
  EXPECT_EQ(limits_sentence(limits),
            "the device gpu:0 is busy 100 % of the step, so only less work on it makes the step shorter");
}

TEST(Limits, SayHowLongASaturatedDeviceIsIdle) {
  // s on gpu:1 until 4 ms, then a and b on gpu:0 until 100 ms: busy for 96 %. The chain s, a is 52 ms.
  const Problem problem = tiny(plain_devices(2), {{"s", {4, 4}}, {"a", {48, 48}}, {"b", {48, 48}}}, {{0, 1}, {0, 2}});
  const std::vector<Limit> limits = fifo_limits(problem, {1, 0, 0});
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_NEAR(limits[0].share, 0.96, 1e-9);
  EXPECT_EQ(
      limits[0].sentence,
      "the device gpu:0 is busy 96 % of the step (idle for 4 ms), so with as much work on it at most 4.0 % can be "
      "gained")
      << "a move elsewhere, such as of s to gpu:0, may gain that much";
}

TEST(Limits, OfOpsThatWaitForOneAnothersResultsAreTheChain) {
  // Four ops of 10 ms on alternate devices, and three transfers of 10 ms: 70 ms. No device is busy for over 20 ms.
  const Problem problem = tiny(plain_devices(2), {{"a", {10, 10}}, {"b", {10, 10}}, {"c", {10, 10}}, {"d", {10, 10}}},
                               {{0, 1}, {1, 2}, {2, 3}}, 10);
  const std::vector<Limit> limits = fifo_limits(problem, {0, 1, 0, 1});
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0].kind, LimitKind::chain);
  EXPECT_EQ(limits[0].share, 1);
  EXPECT_EQ(limits[0].sentence,
            "a chain of 4 ops that need one another's results takes 100 % of the step (57 % computing, 43 % moving "
            "tensors)");
  EXPECT_THAT(limits[0].waits, ::testing::IsEmpty());
}

TEST(Limits, OfTransfersThatQueueAreTheLink) {
  // Five tensors of 20 ms leave gpu:0 one after the other from 1 ms to 101 ms; the last reader ends at 102 ms.
  std::vector<test::TinyOp> ops;
  std::vector<test::TinyEdge> edges;
  std::vector<std::uint8_t> device;
  for (std::size_t i = 0; i < 5; ++i) {
    ops.push_back({"p" + std::to_string(i), {1, 1}});
    ops.push_back({"q" + std::to_string(i), {1, 1}});
    edges.push_back({2 * i, 2 * i + 1});
    device.insert(device.end(), {0, 1});
  }
  const std::vector<Limit> limits = fifo_limits(tiny(plain_devices(2), ops, edges, 20), device);
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0].kind, LimitKind::link);
  EXPECT_EQ(limits[0].name, "0>1");
  EXPECT_NEAR(limits[0].share, 100.0 / 102, 1e-9);
  EXPECT_EQ(limits[0].slack, 2 * test::ms);
  EXPECT_THAT(limits[0].sentence, HasSubstr(", so with as much traffic over it at most 2.0 % can be gained"));
}

TEST(Limits, BeginWithAMemoryThatIsTooSmall) {
  std::vector<Device> devices = plain_devices(1);
  devices[0].memory = 500;
  const std::vector<Limit> limits = fifo_limits(tiny(devices, {{"a", {10}, "", 1000}}, {}), {0});
  ASSERT_GE(limits.size(), 2U);
  EXPECT_EQ(limits[0].kind, LimitKind::memory);
  EXPECT_EQ(limits[0].free, -500);
  EXPECT_EQ(limits[0].sentence, "the memory of gpu:0 is too small by 500 B");
  EXPECT_EQ(limits[1].kind, LimitKind::device);
}

TEST(Limits, NameAMemoryThatKeepsFasterOpsAway) {
  // b takes 50 ms on gpu:1 and would take 1 ms on gpu:0, whose memory is 95 % full. a takes 10 ms.
  std::vector<Device> devices = plain_devices(2);
  devices[0].memory = 1000;
  const Problem problem = tiny(devices, {{"a", {10, 10}, "", 950}, {"b", {1, 50}, "", 100}}, {});
  const std::vector<Limit> limits = fifo_limits(problem, {0, 1});
  ASSERT_EQ(limits.size(), 3U);
  EXPECT_EQ(limits[0].kind, LimitKind::device);
  EXPECT_EQ(limits[0].name, "gpu:1");
  EXPECT_EQ(limits[1].sentence, "one op takes 100 % of the step");
  EXPECT_EQ(limits[2].kind, LimitKind::memory);
  EXPECT_EQ(limits[2].sentence,
            "the memory of gpu:0 is 95 % full (50 B free), and ops that would be faster there do not fit "
            "together");
  EXPECT_EQ(fifo_limits(tiny(devices, {{"a", {10, 10}, "", 950}, {"b", {50, 50}, "", 100}}, {}), {0, 1}).size(), 2U)
      << "b would not be faster there";
}

TEST(Limits, NameNoMemoryIntoWhichTheFasterOpsFit) {
  // As above, but gpu:0 is 92 % full, and b with its 60 bytes would fit beside a.
  std::vector<Device> devices = plain_devices(2);
  devices[0].memory = 1000;
  const auto limits = [&](Bytes b, Bytes c) {
    return fifo_limits(tiny(devices, {{"a", {10, 10}, "", 920}, {"b", {1, 50}, "", b}, {"c", {1, 50}, "", c}}, {}),
                       {0, 1, 1});
  };
  const auto names_memory = [](const std::vector<Limit>& list) {
    return std::ranges::any_of(list, [](const Limit& limit) { return limit.kind == LimitKind::memory; });
  };
  EXPECT_FALSE(names_memory(limits(60, 20)));
  EXPECT_TRUE(names_memory(limits(60, 30))) << "each fits, but not both";
  // Its result of 100 bytes does not fit either.
  const Problem result = tiny(devices, {{"a", {10, 10}, "", 920}, {"b", {1, 50}, "", 0, 100}}, {});
  EXPECT_TRUE(names_memory(fifo_limits(result, {0, 1})));
}

TEST(Limits, CountAllOpsOfACoLocationGroupForItsMove) {
  // b would be faster on gpu:0, but it moves with c, which is slower there by more.
  std::vector<Device> devices = plain_devices(2);
  devices[0].memory = 1000;
  const Problem problem =
      tiny(devices, {{"a", {10, 10}, "", 950}, {"b", {1, 50}, "g", 100}, {"c", {90, 10}, "g", 100}}, {});
  for (const Limit& limit : fifo_limits(problem, {0, 1, 1})) EXPECT_NE(limit.kind, LimitKind::memory);
}

TEST(Limits, SayThatNothingFillsTheStepAndForWhatThePathWaits) {
  // s 0-1, a 1-11, b 11-21 on gpu:0; b's tensor 21-25; t 25-26 on gpu:1. gpu:0 is busy for 21 of 26 ms, the chain s, a,
  // transfer, t takes 16, the link is busy for 8, and b waits for a: 10.
  const Problem problem = test::fork_join(4);
  const std::vector<Limit> limits = fifo_limits(problem, {0, 0, 0, 1});
  ASSERT_EQ(limits.size(), 3U);
  EXPECT_EQ(limits[0].kind, LimitKind::device);
  EXPECT_EQ(limits[1].kind, LimitKind::chain);
  EXPECT_EQ(limits[2].kind, LimitKind::link);
  ASSERT_EQ(limits[1].waits.size(), 1U);
  EXPECT_EQ(limits[1].waits[0].first, "gpu:0");
  EXPECT_NEAR(limits[1].waits[0].second, 10.0 / 26, 1e-9);
  EXPECT_THAT(limits_sentence(limits),
              StartsWith("no device, link or chain of ops fills the step: the device gpu:0 is busy 81 % of the step"));
  EXPECT_THAT(limits[1].sentence, HasSubstr("work that is ready waits for 38 % of the step: 38 % for gpu:0"));
}

TEST(Limits, OfAPlacementWithoutATimeAreNone) {
  const Problem problem = tiny(plain_devices(2), {{"a", {10, no}}}, {});
  EXPECT_THAT(fifo_limits(problem, {1}), ::testing::IsEmpty());
  EXPECT_EQ(limits_sentence({}), "");
}

TEST(Limits, KeepTheirLawsOnRandomProblems) {
  EXPECT_TRUE(rc::check("laws", [](const test::RandomProblem& random, const test::RandomPlacement& genes) {
    const Problem problem = test::problem_of(random);
    const Placement placement = test::placement_of(problem, genes);
    const auto schedule = *rc::gen::element(Schedule::fifo, Schedule::priority, Schedule::in_order);
    Usage usage;
    simulate::Timeline timeline;
    const Outcome outcome =
        simulate::make_exact_engine(problem, schedule)->evaluate(placement, {.usage = &usage, .timeline = &timeline});
    const std::vector<Limit> limits = limits_of(problem, placement, schedule);
    RC_ASSERT(limits.empty() == !outcome.timed());
    if (!outcome.timed()) return;
    const auto path = simulate::critical_path(problem, placement, schedule, timeline);
    const double step = static_cast<double>(outcome.makespan);
    RC_ASSERT(outcome.overflow == 0 || limits.front().kind == LimitKind::memory);
    double last = 2;
    for (const Limit& limit : limits) {
      RC_ASSERT(!limit.sentence.empty());
      if (limit.kind == LimitKind::memory) continue;
      RC_ASSERT(limit.share >= 0 && limit.share <= 1 + 1e-12);
      RC_ASSERT(limit.share <= last);
      last = limit.share;
      RC_ASSERT(std::abs(limit.share * step + static_cast<double>(limit.slack) - step) < 1e-6 * step + 1e-6);
      if (limit.kind != LimitKind::chain) continue;
      double waits = 0;
      for (const auto& [name, share] : limit.waits) waits += share;
      RC_ASSERT(std::abs(waits * step - static_cast<double>(simulate::shares_of(path).waiting)) < 1e-6 * step + 1e-6);
    }
  }));
}

}  // namespace
}  // namespace emplace::report::limits_test
