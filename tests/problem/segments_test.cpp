#include "problem/segments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/problem/tiny.hpp"

namespace emplace::segments_test {
namespace {

using namespace test;
using ::testing::ElementsAre;

// 0 -> 1 -> 2 with 1 on another device, and 3 alone beside 0, which no other device needs.
TEST(SegmentOfOp, IsALaterOneForWhatNeedsIt) {
  const std::vector<Dependence> dependences = {{0, 1}, {1, 2}};
  const std::vector<std::uint32_t> devices = {0, 1, 0, 0};
  EXPECT_THAT(segment_of_op(dependences, devices), ElementsAre(0, 2, 3, 1));
}

// Two chains on device 0, of which op 1 is read by op 4 on device 1, and op 3 reads op 5 there:
//   device 0: 0 -> 1, 2 -> 3        device 1: 4 (reads 1), 5
// Op 4 must not wait for ops 2 and 3, nor op 2 for op 5.
TEST(SegmentOfOp, EndsWhereAnotherDeviceReadsAndBeginsWhereOneIsWaitedFor) {
  const std::vector<Dependence> dependences = {{0, 1}, {2, 3}, {1, 4}, {5, 3}};
  const std::vector<std::uint32_t> devices = {0, 0, 0, 0, 1, 1};
  EXPECT_THAT(segment_of_op(dependences, devices), ElementsAre(0, 0, 2, 3, 4, 1));
}

// The same ops with 2 and 3 before 0 and 1.
TEST(SegmentOfOp, KeepsTheOrderThatThePlacementHas) {
  const std::vector<Dependence> dependences = {{0, 1}, {2, 3}, {1, 4}, {5, 3}};
  const std::vector<std::uint32_t> devices = {0, 0, 0, 0, 1, 1}, rank = {4, 5, 2, 3, 6, 1};
  EXPECT_THAT(segment_of_op(dependences, devices, rank), ElementsAre(2, 2, 1, 2, 3, 0));
}

// a -> b -> c on changing devices, then their gradients on a device of their own.
TEST(ForwardSegments, LeaveOutTheBackwardPass) {
  Problem problem = tiny(plain_devices(3), {{"a", {1, 1, 1}}, {"b", {1, 1, 1}}, {"c", {1, 1, 1}}, {"grad", {1, 1, 1}}},
                         {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_EQ(count_forward_segments(problem, {{0, 0, 0, 0}, {}}), 1U);
  EXPECT_EQ(count_forward_segments(problem, {{0, 1, 0, 2}, {}}), 4U);
  problem.backward = {0, 0, 0, 1};
  EXPECT_EQ(count_forward_segments(problem, {{0, 1, 0, 2}, {}}), 3U);
}

}  // namespace
}  // namespace emplace::segments_test
