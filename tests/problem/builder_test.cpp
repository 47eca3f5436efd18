#include "emplace/problem/builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <functional>
#include <limits>

#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"
#include "problem/tiny.hpp"

namespace emplace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::no;
using ::testing::StartsWith;

std::vector<std::uint32_t> row(const Lists& lists, std::size_t i) { return {lists[i].begin(), lists[i].end()}; }

OpSpec op(std::string name, std::vector<double> seconds, std::string group = {}) {
  return {.name = std::move(name),
          .type = "",
          .seconds = std::move(seconds),
          .resident = 0,
          .scratch = 0,
          .colocate = std::move(group)};
}

// Two devices, a channel each way, two ops.
ProblemBuilder begun() {
  ProblemBuilder builder("p");
  builder.add_device({"cpu:0", "cpu", no_memory_limit});
  builder.add_device({"gpu:0", "gpu", 1000});
  builder.add_channel({"up", 1e-5, 1.2e10, true});
  builder.add_channel({"down", 1e-5, 1.2e10, true});
  builder.add_route(DeviceId{std::size_t{0}}, DeviceId{1}, {ChannelId{std::size_t{0}}});
  builder.add_op(op("a", {0.010, 0.001}));
  builder.add_op(op("b", {0.010, no}));
  return builder;
}

const OpId a{std::size_t{0}};
const OpId b{std::size_t{1}};

std::string refusal(const std::function<void(ProblemBuilder&)>& step) {
  ProblemBuilder builder = begun();
  try {
    step(builder);
    builder.build("file.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

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

TEST(Builder, RefusesEmptyProblems) {
  ProblemBuilder builder("p");
  EXPECT_THROW(builder.build("f"), InputError);
  builder.add_device({"cpu:0", "cpu", no_memory_limit});
  try {
    builder.build("f");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "f: the problem has no ops");
  }
  ProblemBuilder bare("p");
  EXPECT_THROW(bare.add_op(op("a", {})), InputError);
}

TEST(Builder, RefusesBadDevices) {
  ProblemBuilder builder("p");
  builder.add_device({"cpu:0", "cpu", no_memory_limit});
  EXPECT_THROW(builder.add_device({"", "cpu", no_memory_limit}), InputError);
  EXPECT_THROW(builder.add_device({"gpu:0", "gpu", -1}), InputError);
  EXPECT_THROW(builder.add_device({"cpu:0", "cpu", 1}), InputError);
  ProblemBuilder many("p");
  for (std::size_t d = 0; d < max_devices; ++d) many.add_device({"d" + std::to_string(d), "", no_memory_limit});
  EXPECT_THROW(many.add_device({"one more", "", no_memory_limit}), InputError);
}

TEST(Builder, RefusesBadChannels) {
  const auto with = [](double latency, double bandwidth) {
    return refusal([=](ProblemBuilder& p) {
      p.add_channel({"c", latency, bandwidth, true}, "file.json: channels[2]");
    });
  };
  EXPECT_EQ(with(0, 1), "no error");
  EXPECT_THAT(with(0, 0), StartsWith("file.json: channels[2]: the bandwidth of channel 'c' must be above zero"));
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THAT(with(0, bad), HasSubstr("bandwidth"));
    EXPECT_THAT(with(bad, 1), HasSubstr("latency"));
  }
  EXPECT_THAT(refusal([](ProblemBuilder& p) { p.add_channel({"up", 0, 1, true}); }), HasSubstr("'up' is used twice"));
}

TEST(Builder, RefusesBadRoutes) {
  const auto with = [](std::size_t from, std::size_t to, std::vector<ChannelId> channels) {
    return refusal([=](ProblemBuilder& p) { p.add_route(DeviceId{from}, DeviceId{to}, channels, "routes[1]"); });
  };
  const ChannelId up{std::size_t{0}};
  EXPECT_EQ(with(1, 0, {up}), "no error");
  EXPECT_THAT(with(0, 1, {up}), HasSubstr("two routes from device 0 to 1"));
  EXPECT_THAT(with(0, 0, {up}), HasSubstr("two different devices"));
  EXPECT_THAT(with(1, 0, {}), HasSubstr("has no channels"));
  EXPECT_THAT(with(1, 7, {up}), HasSubstr("device 7, but there are 2 devices (0 to 1)"));
  EXPECT_THAT(with(1, 0, {ChannelId{9}}), HasSubstr("channel 9, but there are 2 channels"));
  EXPECT_THAT(with(1, 0, {up, up}), HasSubstr("'up' stands twice"));
}

TEST(Builder, RefusesBadOps) {
  const auto with = [](OpSpec spec) { return refusal([&](ProblemBuilder& p) { p.add_op(spec, "ops[2]"); }); };
  EXPECT_EQ(with(op("c", {0, 0})), "no error");
  EXPECT_THAT(with(op("", {1, 1})), StartsWith("ops[2]: the op has an empty name"));
  EXPECT_THAT(with(op("a", {1, 1})), HasSubstr("'a' is used twice (also by number 0)"));
  EXPECT_THAT(with(op("c", {1})), HasSubstr("needs one time for each of the 2 devices, got 1"));
  EXPECT_THAT(with(op("c", {no, no})), HasSubstr("no device can run op 'c'"));
  for (const double bad : {-1.0, HUGE_VAL, 1e30})
    EXPECT_THAT(with(op("c", {1, bad})), HasSubstr("'c' on device 'gpu:0'"));
  OpSpec heavy = op("c", {1, 1});
  heavy.resident = -1;
  EXPECT_THAT(with(heavy), HasSubstr("resident bytes must not be negative"));
  heavy.resident = 0;
  heavy.scratch = total_limit + 1;
  EXPECT_THAT(with(heavy), HasSubstr("scratch bytes must be at most 2^62"));
  EXPECT_THAT(with(op("bad\nname", {no, no})), HasSubstr("'bad\\x0aname'")) << "names are made fit for one line";
}

TEST(Builder, RefusesBadTensors) {
  const auto with = [](OpId from, Bytes bytes, std::vector<OpId> to) {
    return refusal([&](ProblemBuilder& p) { p.add_tensor(from, bytes, to, "tensors[0]"); });
  };
  EXPECT_EQ(with(a, 0, {b}), "no error");
  EXPECT_THAT(with(a, -1, {b}), HasSubstr("tensors[0]: the tensor's bytes must not be negative"));
  EXPECT_THAT(with(OpId{5}, 1, {b}), HasSubstr("producer is op 5, but there are 2 ops"));
  EXPECT_THAT(with(a, 1, {OpId{5}}), HasSubstr("consumer 5"));
  EXPECT_THAT(with(a, 1, {b, b}), HasSubstr("'b' is listed twice"));
  EXPECT_THAT(with(a, 1, {a}), HasSubstr("'a' consumes its own tensor"));
}

TEST(Builder, NamesTheOpsOfACycle) {
  EXPECT_THAT(refusal([](ProblemBuilder& p) {
                p.add_tensor(a, 1, {b});
                p.add_tensor(b, 1, {a});
              }),
              ::testing::AnyOf("file.json: the ops form a cycle: 'a' -> 'b' -> 'a'",
                               "file.json: the ops form a cycle: 'b' -> 'a' -> 'b'"));
  // A long cycle is shortened.
  EXPECT_THAT(refusal([](ProblemBuilder& p) {
                std::vector<OpId> ring;
                for (int i = 0; i < 1000; ++i) ring.push_back(p.add_op(op("r" + std::to_string(i), {1, 1})));
                for (std::size_t i = 0; i < ring.size(); ++i) p.add_tensor(ring[i], 1, {ring[(i + 1) % ring.size()]});
              }),
              HasSubstr("more) -> "));
}

TEST(Builder, RefusesAGroupThatNoDeviceCanRun) {
  EXPECT_THAT(refusal([](ProblemBuilder& p) {
                p.add_op(op("c", {1, no}, "g"));
                p.add_op(op("d", {no, 1}, "g"));
              }),
              HasSubstr("no device can run every op of co-location group 'g'"));
}

TEST(Builder, RefusesTotalsBeyondTheLimit) {
  // 2^61 bytes at 1.2e10 bytes/s: 1.92e8 s; 2^62 ps are 4.6e6 s.
  EXPECT_THAT(refusal([](ProblemBuilder& p) { p.add_tensor(a, total_limit / 2, {}, "tensors[0]"); }),
              StartsWith("tensors[0]: the tensor of op 'a' needs 1.92e+08 s on a route, more than 2^62 ps"));
  EXPECT_THAT(refusal([](ProblemBuilder& p) {
                OpSpec heavy = op("c", {1, 1});
                heavy.resident = total_limit;
                p.add_op(heavy);
                heavy.name = "d";
                p.add_op(heavy);
              }),
              HasSubstr("all bytes together"));
  EXPECT_THAT(refusal([](ProblemBuilder& p) {
                p.add_op(op("c", {3e6, 1}));
                p.add_op(op("d", {3e6, 1}));
              }),
              HasSubstr("all times together"));
}

// Three processors; a transfer takes the first time upwards and the second downwards.
ProblemBuilder with_given_times() {
  ProblemBuilder builder("p");
  for (const char* name : {"p0", "p1", "p2"}) builder.add_device({name, "", no_memory_limit});
  const ChannelId link = builder.add_channel({"link", 1, 1, false});
  builder.give_transfer_times(2);
  for (std::size_t from = 0; from < 3; ++from)
    for (std::size_t to = 0; to < 3; ++to)
      if (from != to) builder.add_route(DeviceId{from}, DeviceId{to}, {link}, {}, from < to ? 0 : 1);
  builder.add_op(op("a", {1, 1, 1}));
  builder.add_op(op("b", {1, 1, 1}));
  return builder;
}

TEST(Builder, TakesTransferTimesThatTheFileGives) {
  ProblemBuilder builder = with_given_times();
  const std::vector<double> seconds = {3, 0};
  builder.add_tensor(OpId{0}, 1 << 20, {OpId{1}}, {}, seconds);
  const Problem p = builder.build();
  EXPECT_TRUE(p.given_transfer_times);
  ASSERT_EQ(p.route_classes.size(), 2U);
  EXPECT_EQ(p.transfer(TensorId{0}, DeviceId{0}, DeviceId{2}), 3 * Ticks{1'000'000'000'000});
  EXPECT_EQ(p.transfer(TensorId{0}, DeviceId{2}, DeviceId{1}), 1);  // 0 lasts one tick
  EXPECT_EQ(p.route_class[0], -1);
}

TEST(Builder, RefusesGivenTimesThatAreNoTimes) {
  const auto with_second_time = [](double time) {
    return refusal([&](ProblemBuilder& builder) {
      builder = with_given_times();
      const std::vector<double> seconds = {1, time};
      builder.add_tensor(OpId{0}, 0, {OpId{1}}, "f: edges[0]", seconds);
    });
  };
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL, 1e7})
    EXPECT_THAT(with_second_time(bad),
                AllOf(StartsWith("f: edges[0]: "), HasSubstr("a transfer's time must be from 0 to 4611686 s")));
  // Three devices, each with a transfer of 4e6 s: above 4.6e6 s in all.
  EXPECT_THAT(with_second_time(4e6), HasSubstr("all times together"));
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

TEST(Builder, TopologicalOrderIsTheSmallestIdFirst) {
  EXPECT_TRUE(rc::check("a topological permutation in which no smaller ready id waits", [] {
    Stream random{{.seed = *rc::gen::arbitrary<std::uint64_t>()}};
    const std::size_t count = 1 + random.below(20);
    std::vector<std::size_t> shuffled(count);
    for (std::size_t i = 0; i < count; ++i) {
      shuffled[i] = i;
      std::swap(shuffled[i], shuffled[random.below(static_cast<std::uint32_t>(i + 1))]);
    }
    std::vector<testing::TinyOp> ops;
    std::vector<testing::TinyEdge> edges;
    for (std::size_t i = 0; i < count; ++i) ops.push_back({"op" + std::to_string(i), {1}});
    for (std::size_t i = 1; i < count; ++i)
      if (random.below(3) > 0) edges.push_back({shuffled[random.below(static_cast<std::uint32_t>(i))], shuffled[i]});
    const Problem p = testing::tiny(testing::plain_devices(1), ops, edges);
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
}  // namespace emplace
