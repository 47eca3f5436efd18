#include "emplace/problem/builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"
#include "tests/problem/begun.hpp"

namespace emplace::builder_test {
namespace {

using test::a;
using test::b;
using test::begun;
using test::no;
using test::op;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::uint32_t> row(const Lists& lists, std::size_t i) { return {lists[i].begin(), lists[i].end()}; }

TEST(Builder, RoundsTheExampleOfTheDesign) {
  // 4096 bytes at 1.2e10 bytes/s are 341333.33 ps, with 1e-5 s latency 10341333 ps.
  ProblemBuilder builder = begun();
  builder.add_tensor(a, 4096, {b});
  const Problem p = builder.build();
  EXPECT_THAT(p.op_time, ElementsAre(10'000'000'000, 1'000'000'000, 10'000'000'000, cannot_run));
  EXPECT_EQ(p.transfer(TensorId{std::size_t{0}}, DeviceId{std::size_t{0}}, DeviceId{1}), 10'341'333);
  EXPECT_TRUE(p.has_route(DeviceId{std::size_t{0}}, DeviceId{1}));
  EXPECT_FALSE(p.has_route(DeviceId{1}, DeviceId{std::size_t{0}}));
  EXPECT_FALSE(p.can_run(b, DeviceId{1}));
}

TEST(Builder, RoundsToTheNearestTickAndNeverToZero) {
  EXPECT_EQ(ticks_of_seconds(0), 1);
  EXPECT_EQ(ticks_of_seconds(0.4e-12), 1);
  EXPECT_EQ(ticks_of_seconds(2.5e-12), 3);
  EXPECT_EQ(ticks_of_transfer(0, 0, 1), 1);
  EXPECT_EQ(ticks_of_transfer(3, 1e-12, 1e12), 4);
}

TEST(Builder, AddsLatenciesAndTakesTheSmallestBandwidthOfARoute) {
  ProblemBuilder builder = begun();
  builder.add_channel({"nic", 2e-6, 1e9, true});
  builder.add_route(DeviceId{1}, DeviceId{std::size_t{0}}, {ChannelId{1}, ChannelId{2}});
  builder.add_tensor(a, 1000, {b});
  const Problem p = builder.build();
  // 1e-5 + 2e-6 + 1000 / 1e9 = 13e-6 s.
  EXPECT_EQ(p.transfer(TensorId{std::size_t{0}}, DeviceId{1}, DeviceId{std::size_t{0}}), 13'000'000);
  EXPECT_THAT(row(p.routes, 1 * 2 + 0), ElementsAre(1, 2));
}

TEST(Builder, ListsInputsOutputsAndGroups) {
  ProblemBuilder builder = begun();
  const OpId c = builder.add_op(op("c", {1, 1}, "late"));
  const OpId d = builder.add_op(op("d", {1, 1}, "late"));
  builder.add_tensor(c, 1, {d, a});
  builder.add_tensor(c, 2, {});
  builder.add_tensor(a, 3, {b, d});
  const Problem p = builder.build();
  EXPECT_THAT(row(p.outputs, c.index()), ElementsAre(0, 1));
  EXPECT_THAT(row(p.inputs, d.index()), ElementsAre(0, 2));
  EXPECT_THAT(row(p.consumers, 0), ElementsAre(d.value, a.value)) << "in the order of the file";
  EXPECT_THAT(p.topological, ElementsAre(2, 0, 1, 3)) << "c first, then the smallest ready id";
  EXPECT_EQ(p.group_names, std::vector<std::string>{"late"});
  EXPECT_TRUE(p.group[a.index()].is_none());
  EXPECT_EQ(p.group[c.index()], p.group[d.index()]);
  EXPECT_EQ(p.edge_count(), 4u);
}

TEST(Builder, LeavesItselfEmpty) {
  ProblemBuilder builder = begun();
  builder.build();
  EXPECT_THROW(builder.build(), InputError);
}

TEST(Builder, MarksBackwardOpsWhereThereAreAny) {
  ProblemBuilder builder = begun();
  EXPECT_TRUE(builder.build().backward.empty());
  builder = begun();
  OpSpec backward = op("g", {1, 1});
  backward.backward = true;
  const OpId last = builder.add_op(backward);
  const OpId after = builder.add_op(op("h", {1, 1}));
  const Problem p = builder.build();
  EXPECT_EQ(p.backward.size(), p.op_count());
  EXPECT_TRUE(p.is_backward(last));
  EXPECT_FALSE(p.is_backward(OpId{0}));
  EXPECT_FALSE(p.is_backward(after));
}

TEST(Builder, CopiesBuildTheirOwnProblems) {
  ProblemBuilder builder = begun();
  ProblemBuilder assigned("other");
  assigned = builder;
  const ProblemBuilder& itself = assigned;
  assigned = itself;
  ProblemBuilder constructed = builder;
  constructed.add_op(op("h", {1, 1}));
  EXPECT_EQ(assigned.build().op_count(), 2u);
  EXPECT_EQ(constructed.build().op_count(), 3u);
  EXPECT_EQ(builder.build().op_count(), 2u);
}

TEST(Builder, AMovedFromBuilderMayBeAssignedTo) {
  ProblemBuilder builder = begun();
  ProblemBuilder moved = std::move(builder);
  builder = moved;
  EXPECT_EQ(builder.build().op_count(), 2u);
  EXPECT_EQ(moved.build().op_count(), 2u);
}

TEST(Builder, TopologicalOrderIsTheSmallestIdFirst) {
  EXPECT_TRUE(rc::check("a topological permutation in which no smaller ready id waits", [] {
    Stream random{{.seed = *rc::gen::arbitrary<std::uint64_t>()}};
    const std::size_t count = 1 + random.below(20);
    std::vector<std::size_t> shuffled(count);
    for (std::size_t i = 0; i < count; ++i) {
      shuffled[i] = i;
      std::swap(shuffled[i], shuffled[random.below(static_cast<std::uint32_t>(i + 1))]);
    }
    std::vector<test::TinyOp> ops;
    std::vector<test::TinyEdge> edges;
    for (std::size_t i = 0; i < count; ++i) ops.push_back({"op" + std::to_string(i), {1}});
    for (std::size_t i = 1; i < count; ++i)
      if (random.below(3) > 0) edges.push_back({shuffled[random.below(static_cast<std::uint32_t>(i))], shuffled[i]});
    const Problem p = test::tiny(test::plain_devices(1), ops, edges);
    std::vector<char> done(count, 0);
    RC_ASSERT(p.topological.size() == count);
    for (const std::uint32_t next : p.topological) {
      std::uint32_t smallest = OpId::none_value;
      for (std::uint32_t candidate = 0; candidate < count && smallest == OpId::none_value; ++candidate) {
        bool ready = !done[candidate];
        for (const std::uint32_t tensor : p.inputs[candidate]) ready = ready && done[p.producer[tensor].index()];
        if (ready) smallest = candidate;
      }
      RC_ASSERT(next == smallest);
      done[next] = 1;
    }
  }));
}

}  // namespace
}  // namespace emplace::builder_test
