// What the builder refuses, and in which words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/problem/begun.hpp"

namespace emplace::builder_refusals_test {
namespace {

using test::a;
using test::b;
using test::no;
using test::op;
using test::refusal;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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
  EXPECT_THAT(refusal([&](ProblemBuilder& p) {
                p = ProblemBuilder("bare");
                p.add_route(DeviceId{0}, DeviceId{1}, {up});
              }),
              HasSubstr("device 0, but there are no devices"));
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

TEST(Builder, AllowsTotalsOfExactlyTheLimit) {
  const auto beside_the_limit = [](Bytes more) {
    return refusal([&](ProblemBuilder& p) {
      OpSpec heavy = op("c", {1, 1}), light = op("d", {1, 1});
      heavy.resident = total_limit;
      light.resident = more;
      p.add_op(heavy);
      p.add_op(light);
    });
  };
  EXPECT_EQ(beside_the_limit(0), "no error");
  EXPECT_THAT(beside_the_limit(1), HasSubstr("all bytes together"));
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

}  // namespace
}  // namespace emplace::builder_refusals_test
