// Placements under a limit on cuts: splits of sequences, and what searches make of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problem/cuts.hpp"
#include "search/constructive/few_cuts.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/search/every_schedule.hpp"
#include "tests/search/place_steps.hpp"
#include "tests/search/random_step.hpp"

namespace emplace::search::few_cuts_test {
namespace {

using namespace test;
using test::place;
using ::testing::ElementsAre;
using ::testing::Optional;

// Blocks of `width` ops in a row that all read the block's first op and all feed its last, which feeds the next block:
// between blocks one tensor crosses, within a block up to `width` + 1. A device holds its share of all ops and one
// block.
Problem blocks(std::size_t count, std::size_t width, std::size_t devices = 2) {
  const std::size_t ops_of_block = width + 2;
  std::vector<Device> memories;
  for (std::size_t d = 0; d < devices; ++d)
    memories.push_back({"gpu:" + std::to_string(d), "gpu", static_cast<Bytes>((count / devices + 1) * ops_of_block)});
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t first = ops.size();
    for (std::size_t i = 0; i < ops_of_block; ++i) {
      ops.push_back({std::to_string(b) + "." + std::to_string(i), std::vector<double>(devices, 1), "", 1});
      if (i > 0 && i <= width) edges.push_back({first, first + i});
      if (i == ops_of_block - 1)
        for (std::size_t k = 1; k <= width; ++k) edges.push_back({first + k, first + i});
    }
    if (b > 0) edges.push_back({first - 1, first});
  }
  return tiny(memories, ops, edges, 0.1);
}

TEST(FewCuts, SplitAChainWhereTheLongestPieceIsShortest) {
  Problem problem = chain_5(1);  // 4 6 8 6 4 ms on the first device, 8 3 2 3 8 ms on the second
  problem.max_cuts = 1;
  const Units units(problem);
  const FewCutSplitter splitter(problem, units, sequences_for_few_cuts(problem, units).front());
  const std::vector<std::uint8_t> both = {0, 1}, second = {1};
  EXPECT_THAT(splitter.shortest(both, MemoryView::none), Optional(ElementsAre(0, 0, 1, 1, 1)));  // 10 and 13
  EXPECT_THAT(splitter.shortest(second, MemoryView::none), Optional(ElementsAre(1, 1, 1, 1, 1)));
  const auto fewest = splitter.fewest_cuts(both, MemoryView::none);
  ASSERT_TRUE(fewest);
  EXPECT_EQ(std::ranges::count(*fewest, fewest->front()), 5) << "no cut";
}

TEST(FewCuts, CutBetweenBlocksAndCountATensorThatCrossesTwoBoundariesOnce) {
  // a feeds b, c and d of a chain: with one op per device its tensor crosses three boundaries, and b's and c's one
  // each.
  std::vector<Device> devices;
  for (const char* name : {"p", "q", "r", "s"}) devices.push_back({name, "gpu", 10});
  Problem problem = tiny(devices,
                         {{"a", {1, 1, 1, 1}, "", 10},
                          {"b", {1, 1, 1, 1}, "", 10},
                          {"c", {1, 1, 1, 1}, "", 10},
                          {"d", {1, 1, 1, 1}, "", 10}},
                         {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 3}}, 1);
  const Units units(problem);
  const std::vector<std::uint8_t> all = {0, 1, 2, 3};
  for (const std::uint32_t limit : {2U, 3U}) {
    problem.max_cuts = limit;
    const FewCutSplitter splitter(problem, units, sequences_for_few_cuts(problem, units).front());
    EXPECT_EQ(splitter.shortest(all, MemoryView::resident).has_value(), limit == 3);
  }
}

TEST(FewCuts, LeaveUnitsWhereTheyCanRun) {
  Problem problem = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, no}}, {"c", {1, 1}}}, {{0, 1}, {1, 2}}, 1);
  const Units units(problem);
  const std::vector<std::uint8_t> second = {1};
  for (const std::uint32_t limit : {1U, 2U}) {
    problem.max_cuts = limit;
    const FewCutSplitter splitter(problem, units, sequences_for_few_cuts(problem, units).front());
    const auto split = splitter.shortest(second, MemoryView::none);
    EXPECT_EQ(split.has_value(), limit == 2) << "a and b cross";
    if (split) EXPECT_THAT(*split, ElementsAre(1, 0, 1));
  }
}

// In the order of their ids all weights come first, and each crosses every boundary until the op that reads it.
TEST(FewCuts, PutEachWeightBesideTheOpThatReadsIt) {
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (int i = 0; i < 8; ++i) ops.push_back({"w" + std::to_string(i), {1, 1}, "", 1});
  for (std::size_t i = 0; i < 8; ++i) {
    ops.push_back({"op" + std::to_string(i), {1, 1}, "", 1});
    edges.push_back({i, 8 + i});
    if (i > 0) edges.push_back({7 + i, 8 + i});
  }
  std::vector<Device> halves = {{"a", "gpu", 8}, {"b", "gpu", 8}};
  Problem problem = tiny(halves, ops, edges, 1);
  problem.max_cuts = 1;
  const PlacerResult result = place("contiguous", problem, Schedule::fifo, 1000);
  EXPECT_TRUE(result.outcome.feasible());
  EXPECT_EQ(count_cuts(problem, result.placement.device.data()), 1U);
}

// Forward f0 .. f7, backward b7 .. b0: each backward op reads its forward op and the backward op before it. One cut of
// the chain forth and back, with a device for each half, cuts one tensor of each pass.
TEST(FewCuts, KeepBackwardOpsBesideTheirForwardOps) {
  ProblemBuilder builder("training");
  for (const char* name : {"a", "b"}) builder.add_device({name, "gpu", 16});
  const ChannelId there = builder.add_channel({"there", 1e-3, 1e9}), back = builder.add_channel({"back", 1e-3, 1e9});
  builder.add_route(DeviceId{0}, DeviceId{1}, std::vector{there});
  builder.add_route(DeviceId{1}, DeviceId{0}, std::vector{back});
  constexpr std::size_t layers = 8;
  for (std::size_t i = 0; i < 2 * layers; ++i) {
    OpSpec spec;
    spec.name = std::to_string(i);
    spec.seconds = {1e-3, 1e-3};
    spec.resident = 2;
    spec.backward = i >= layers;
    builder.add_op(std::move(spec));
  }
  for (std::size_t i = 0; i < layers; ++i) {
    std::vector<OpId> to = {OpId{2 * layers - 1 - i}};  // its backward op
    if (i + 1 < layers) to.push_back(OpId{i + 1});
    builder.add_tensor(OpId{i}, 0, to);
    if (i + 1 < layers) builder.add_tensor(OpId{layers + i}, 0, {OpId{layers + i + 1}});
  }
  Problem problem = builder.build();
  problem.max_cuts = 2;
  const PlacerResult result = place("contiguous", problem, Schedule::fifo, 1000);
  EXPECT_TRUE(result.outcome.feasible());
  EXPECT_EQ(count_cuts(problem, result.placement.device.data()), 2U);
}

TEST(FewCuts, ASearchSplitsAModelThatDoesNotFitOneDeviceBetweenItsBlocks) {
  for (const char* method : {"best", "climb", "anneal", "tabu", "contiguous"})
    for (const std::size_t devices : {2U, 3U}) {
      Problem problem = blocks(12, 4, devices);
      problem.max_cuts = static_cast<std::uint32_t>(devices - 1);
      const PlacerResult result = place(method, problem, Schedule::fifo, 3000);
      EXPECT_TRUE(result.outcome.feasible()) << method;
      EXPECT_EQ(count_cuts(problem, result.placement.device.data()), devices - 1) << method;
      problem.max_cuts = 0;
      EXPECT_FALSE(place(method, problem, Schedule::fifo, 300).outcome.feasible()) << "none can fit";
    }
}

// From one device, where nothing crosses, a search uses the cuts that it may: two chains, which one device runs in 80
// ms, take 40 ms on two. A feeding op in front of both costs a cut.
TEST(FewCuts, ASearchUsesTheCutsThatItMay) {
  std::vector<TinyOp> ops = {{"feed", {1, 1}}};
  std::vector<TinyEdge> edges;
  for (std::size_t chain = 0; chain < 2; ++chain)
    for (std::size_t i = 0; i < 4; ++i) {
      ops.push_back({std::to_string(chain) + std::to_string(i), {10, 10}});
      edges.push_back({i == 0 ? 0 : ops.size() - 2, ops.size() - 1});
    }
  Problem problem = tiny(plain_devices(2), ops, edges, 1);
  const Placement start{std::vector<std::uint8_t>(9, 0), {}};
  for (const char* method : {"best", "climb"}) {
    problem.max_cuts = 0;
    EXPECT_EQ(place(method, problem, Schedule::fifo, 3000, &start).outcome.makespan, 81 * ms) << method;
    problem.max_cuts = 1;
    EXPECT_EQ(place(method, problem, Schedule::fifo, 3000, &start).outcome.makespan, 42 * ms) << method;
  }
}

TEST(FewCuts, BestFindsTheBestOfAllPlacementsOfTinyProblems) {
  std::size_t feasible = 0, limited = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Stream random{{.seed = seed}};
    Problem problem = test::random_step_problem(random, 5, 3, seed % 2 == 0);
    const Ticks free = test::best_of_all(problem, Schedule::in_order);
    problem.max_cuts = random.below(2);
    const Ticks least = test::best_of_all(problem, Schedule::in_order);
    const PlacerResult result = place("best", problem, Schedule::in_order, 10'000);
    EXPECT_EQ(result.outcome.feasible(), least != total_limit) << "seed " << seed;
    if (!result.outcome.feasible()) continue;
    EXPECT_EQ(result.outcome.makespan, least) << "seed " << seed;
    EXPECT_LE(count_cuts(problem, result.placement.device.data()), problem.max_cuts);
    ++feasible;
    limited += least > free;
  }
  EXPECT_GE(feasible, 200U);
  EXPECT_GE(limited, 5U);
}

}  // namespace
}  // namespace emplace::search::few_cuts_test
