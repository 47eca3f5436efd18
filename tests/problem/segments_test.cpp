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
