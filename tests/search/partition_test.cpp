// Properties of partitioners that the conformance test does not check, worked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "emplace/base/random.hpp"
#include "emplace/search/placer.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::search::partition_test {
namespace {

using namespace test;
using ::testing::Each;
using ::testing::Ne;

PlacerResult place(const std::string& method, const Problem& problem, std::uint64_t seed = 0,
                   std::optional<std::uint64_t> budget = 1, const std::string& knows = "costs") {
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, Schedule::fifo);
  PlacerRequest request;
  request.problem = &problem;
  request.seed = seed;
  request.evaluations = budget;  // 1: the plain method
  request.evaluator = evaluator.get();
  ConfigTable options;
  options.set("knows", {knows, "test"});
  return place_with(method, request, options);
}

class EveryPartitioner : public ::testing::TestWithParam<const char*> {};

// Random sparse graph: unequal ops, three devices of different speeds.
Problem random_graph(std::size_t count, std::uint64_t seed, std::vector<Device> devices = plain_devices(3)) {
  Stream random({.seed = seed});
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < count; ++i) {
    const double work = 1 + random.below(20);
    TinyOp op{"op" + std::to_string(i), {}, "", random.below(50), random.below(50)};
    for (std::size_t d = 0; d < devices.size(); ++d) op.milliseconds.push_back(work * static_cast<double>(1 + d));
    ops.push_back(op);
    if (i > 0) edges.push_back({random.below(static_cast<std::uint32_t>(i)), i});
    if (i > 3 && edges.back().from != i - 2) edges.push_back({i - 2, i});
  }
  return tiny(std::move(devices), ops, edges, 0.5);
}

TEST_P(EveryPartitioner, ThatKnowsTheGraphAloneCountsOpsAndNotWhatTheyCost) {
  // A chain whose first op takes as long as the 15 others, the second device a tenth of the first one's speed: by costs
  // all but a few ops should stay on the first device, by the graph alone each should get half of the ops.
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 16; ++i) {
    const double work = i == 0 ? 15 : 1;
    ops.push_back({"op" + std::to_string(i), {work, 10 * work}});
    if (i > 0) edges.push_back({i - 1, i});
  }
  const Problem problem = tiny(plain_devices(2), ops, edges, 0.001);
  const auto of_second = [&](const std::string& knows) {
    return std::ranges::count(place(GetParam(), problem, 0, std::nullopt, knows).placement.device, 1);
  };
  EXPECT_LT(of_second("costs"), 8);
  EXPECT_EQ(of_second("graph"), 8);
}

TEST_P(EveryPartitioner, ThatKnowsTheFlowCountsBytesAndNotHowOftenTheyAreSent) {
  // A ring of four ops: two opposite edges carry a large tensor each, the two others a hundred tensors of a byte. By
  // the bytes the small tensors should be cut, by time the large ones: on a channel with much latency they take less.
  ProblemBuilder builder("ring");
  for (const char* name : {"d0", "d1"}) builder.add_device({name, "", no_memory_limit});
  for (std::size_t d = 0; d < 2; ++d)
    builder.add_route(DeviceId{d}, DeviceId{1 - d}, {builder.add_channel({"c" + std::to_string(d), 1e-3, 1e9, true})});
  std::vector<OpId> ops;
  for (const char* name : {"a", "b", "c", "d"}) ops.push_back(builder.add_op({name, "", {1e-3, 1e-3}, 0, 0, ""}));
  builder.add_tensor(ops[0], 1000, {ops[1]});
  builder.add_tensor(ops[2], 1000, {ops[3]});
  for (int i = 0; i < 100; ++i) {
    builder.add_tensor(ops[1], 1, {ops[2]});
    builder.add_tensor(ops[0], 1, {ops[3]});
  }
  const Problem problem = builder.build();
  const auto by_bytes = place(GetParam(), problem, 0, 1, "flow").placement.device;
  EXPECT_EQ(by_bytes[0], by_bytes[1]);
  EXPECT_EQ(by_bytes[2], by_bytes[3]);
  EXPECT_NE(by_bytes[0], by_bytes[2]);
  const auto by_time = place(GetParam(), problem, 0, 1, "costs").placement.device;
  EXPECT_EQ(by_time[1], by_time[2]);
  EXPECT_EQ(by_time[0], by_time[3]);
}

TEST_P(EveryPartitioner, CutsTwoClustersWhereOneEdgeJoinsThem) {
  // Two cliques of 8 equal ops, joined by one edge: 8 + 8 is balanced, and any other halves cut 7 edges at least.
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 16; ++i) {
    ops.push_back({"op" + std::to_string(i), {10, 10}});
    for (std::size_t j = i / 8 * 8; j < i; ++j) edges.push_back({j, i});
  }
  edges.push_back({7, 8});
  const std::vector<std::uint8_t> device = place(GetParam(), tiny(plain_devices(2), ops, edges, 1)).placement.device;
  EXPECT_NE(device.front(), device.back());
  EXPECT_EQ(std::ranges::count(std::span(device).first(8), device.front()), 8);
  EXPECT_EQ(std::ranges::count(std::span(device).last(8), device.back()), 8);
}

TEST_P(EveryPartitioner, GivesAFasterDeviceMoreWork) {
  // 400 independent ops, three times as fast on device 0: 300 ops of 1 ms there, 100 of 3 ms on the other. 3 % are 9.
  std::vector<TinyOp> ops;
  for (int i = 0; i < 400; ++i) ops.push_back({"op" + std::to_string(i), {1, 3}});
  const PlacerResult result = place(GetParam(), tiny(plain_devices(2), ops, {}, 1));
  EXPECT_NEAR(static_cast<double>(std::ranges::count(result.placement.device, 0)), 300, 9);
}

TEST_P(EveryPartitioner, GivesTheSameForTheSameSeedWhateverWasPlacedBefore) {
  const Problem p = random_graph(300, 1), other = random_graph(200, 2);
  std::set<std::vector<std::uint8_t>> placements;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Placement first = place(GetParam(), p, seed, 4).placement;
    for (const char* method : {"scotch", "mincut", "metis"}) place(method, other, seed + 7, 2);
    EXPECT_EQ(place(GetParam(), p, seed, 4).placement, first);
    placements.insert(first.device);
  }
  EXPECT_GT(placements.size(), 1u) << "the seed has no effect";
}

TEST_P(EveryPartitioner, PlacesFewUnitsOnManyDevices) {
  std::vector<double> times(40, 1);
  const Problem p = tiny(plain_devices(40), {{"a", times}, {"b", times}, {"c", times}}, {{0, 1}, {1, 2}}, 1);
  EXPECT_TRUE(place(GetParam(), p).outcome.feasible());
}

TEST_P(EveryPartitioner, BearsCostsAtTheEndOfTheRange) {
  // 4e6 s in all, near the limit of 2^62 ps, beside ops of 1 ps; 2^60 bytes beside 1.
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 40; ++i) {
    ops.push_back({"op" + std::to_string(i), {5e7, 5e7}, "", Bytes{1} << 54});
    if (i % 2 == 1) ops.back() = {"op" + std::to_string(i), {1e-9, 1e-9}, "", 1};
    if (i > 0) edges.push_back({i - 1, i});
  }
  const Problem p = tiny({{"gpu:0", "gpu", Bytes{1} << 59}, {"gpu:1", "gpu", Bytes{1} << 58}}, ops, edges, 1e6);
  const PlacerResult result = place(GetParam(), p, 0, 4);
  EXPECT_TRUE(result.outcome.timed());
  const auto on_first = std::ranges::count(result.placement.device, 0);
  EXPECT_GT(on_first, 0);
}

TEST_P(EveryPartitioner, PrintsNothing) {
  // Nearly all work belongs to one of six devices, so that recursive bisections end up without vertices.
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Stream random({.seed = seed});
    std::vector<TinyOp> ops;
    for (std::size_t i = 0; i < 3 + seed % 9; ++i) {
      const double t = 1 + random.below(100);
      ops.push_back({"op" + std::to_string(i), {t, 1e4 * t, 1e4 * t, 1e4 * t, 1e4 * t, 1e4 * t}});
    }
    place(GetParam(), tiny(plain_devices(6), ops, {{0, 1}, {1, 2}}, 1), seed, 4);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_P(EveryPartitioner, SendsWhatCannotRunThereToTheDeviceThatEndsFirst) {
  // 30 independent ops of 1 ms on three devices, 10 each; 6 of them run on device 2 only, whatever the partition is.
  std::vector<TinyOp> ops;
  for (int i = 0; i < 30; ++i) ops.push_back({"op" + std::to_string(i), {1, 1, 1}});
  for (std::size_t i = 0; i < 6; ++i) ops[i].milliseconds = {no, no, 1};
  const std::vector<std::uint8_t> device = place(GetParam(), tiny(plain_devices(3), ops, {})).placement.device;
  EXPECT_THAT(std::span(device).first(6), Each(2));
  EXPECT_GE(std::ranges::count(device, 0), 4);
  EXPECT_GE(std::ranges::count(device, 1), 4);
}

INSTANTIATE_TEST_SUITE_P(Search, EveryPartitioner, ::testing::Values("scotch", "mincut", "metis"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(Scotch, CutsAlongTheFastLinkWhereDevicesAreFarApart) {
  // Devices 0 1 and 2 3 are pairs: 1 ms inside, 50 ms between. Four cliques of 6 in a ring; neighbours 0-1 and 2-3
  // exchange five tensors, 1-2 and 3-0 one. The two heavy bundles have to run inside the pairs.
  ProblemBuilder builder("pairs");
  for (int d = 0; d < 4; ++d) builder.add_device({"gpu:" + std::to_string(d), "gpu"});
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < 4; ++b)
      if (a != b)
        builder.add_route(DeviceId{a}, DeviceId{b},
                          {builder.add_channel({std::to_string(10 * a + b), a / 2 == b / 2 ? 1e-3 : 50e-3, 1e30})});
  for (std::size_t i = 0; i < 24; ++i)
    builder.add_op({.name = "op" + std::to_string(i), .type = "", .seconds = {1, 1, 1, 1}, .colocate = ""});
  const auto edge = [&](std::size_t from, std::size_t to) { builder.add_tensor(OpId{from}, 0, {OpId{to}}); };
  for (std::size_t i = 0; i < 24; ++i)
    for (std::size_t j = i / 6 * 6; j < i; ++j) edge(j, i);
  for (std::size_t i = 0; i < 5; ++i) {
    edge(i, 6 + i);
    edge(12 + i, 18 + i);
  }
  edge(11, 12);
  edge(5, 23);
  const std::vector<std::uint8_t> device = place("scotch", builder.build()).placement.device;
  EXPECT_EQ(std::set(device.begin(), device.end()).size(), 4u);
  EXPECT_EQ(device[0] / 2, device[6] / 2);
  EXPECT_EQ(device[12] / 2, device[18] / 2);
}

TEST(MinCut, LeavesTheCpuToWhatNothingElseCanRun) {
  // b runs on the CPU only. c not on gpu:0, so on gpu:1, although the CPU is idle. All else is free.
  std::vector<TinyOp> ops;
  for (int i = 0; i < 20; ++i) ops.push_back({"op" + std::to_string(i), {1, 5, 5}});
  ops[4].milliseconds = {1, no, no};
  ops[9].milliseconds = {1, no, 5};
  const Problem p = tiny({{"cpu:0", "cpu"}, {"gpu:0", "gpu"}, {"gpu:1", "gpu"}}, ops, {{0, 1}, {1, 2}}, 1);
  for (const std::uint64_t budget : {1, 4}) {
    std::vector<std::uint8_t> device = place("mincut", p, 0, budget).placement.device;
    EXPECT_EQ(device[4], 0);
    EXPECT_EQ(device[9], 2);
    device.erase(device.begin() + 4);
    EXPECT_THAT(device, Each(Ne(0)));
  }
}

TEST(MinCut, SpreadsOverCpusWhereThereIsNothingElse) {
  const Problem p = tiny({{"cpu:0", "cpu"}, {"cpu:1", "cpu"}}, {{"a", {1, 1}}, {"b", {1, 1}}}, {}, 1);
  EXPECT_EQ(place("mincut", p).outcome.makespan, 1 * ms);
}

TEST(Metis, RespectsMemoryWhereWorkAloneWouldOverflow) {
  // 40 light ops of 1 ms with 5 bytes, 40 heavy ones of 3 ms without: 80 ms of work for each device. gpu:1 holds 60 of
  // the 200 bytes, so at most 12 light ops; 23 heavy ones then make 81. Balance alone puts 20 there, 100 bytes.
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 80; ++i) {
    const bool light = i % 2 == 0;
    ops.push_back({"op" + std::to_string(i), light ? std::vector<double>{1, 1} : std::vector<double>{3, 3}, "",
                   light ? Bytes{5} : Bytes{0}});
    if (i > 0) edges.push_back({i - 1, i});
  }
  const Problem p = tiny({{"gpu:0", "gpu", 180}, {"gpu:1", "gpu", 60}}, ops, edges, 0.1);
  const PlacerResult metis = place("metis", p);
  EXPECT_TRUE(metis.outcome.feasible());
  EXPECT_FALSE(place("scotch", p).outcome.feasible());
  Ticks second = 0;
  for (std::size_t i = 0; i < 80; ++i)
    if (metis.placement.device[i] == 1) second += p.op_time[2 * i];
  EXPECT_GT(second, 60 * ms) << "the work is not balanced";
}

TEST(Metis, LeavesStandardOutputAsItWasWhenSeveralThreadsUseIt) {
  const auto output = [] {
    struct stat file {};
    EXPECT_EQ(::fstat(STDOUT_FILENO, &file), 0);
    return std::pair(file.st_dev, file.st_ino);
  };
  const auto before = output();
  const Problem p = random_graph(8, 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&p] {
      for (int i = 0; i < 200; ++i) EXPECT_TRUE(place("metis", p).outcome.timed());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(output(), before);
}

}  // namespace
}  // namespace emplace::search::partition_test
