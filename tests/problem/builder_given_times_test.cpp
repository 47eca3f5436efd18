// Transfer times that the file gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/problem/begun.hpp"

namespace emplace::builder_given_times_test {
namespace {

using test::op;
using test::refusal;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

}  // namespace
}  // namespace emplace::builder_given_times_test
