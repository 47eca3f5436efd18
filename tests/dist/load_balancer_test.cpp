#include "dist/load_balancer.hpp"

#include <gtest/gtest.h>

namespace emplace::dist::load_balancer_test {
namespace {

TEST(LoadBalancer, GivesHalfOfAnEqualShareToThoseItDoesNotKnow) {
  const LoadBalancer balancer(4);
  EXPECT_EQ(balancer.count(0, 80), 10U);
  EXPECT_EQ(balancer.count(3, 8), 2U) << "a share of two items is not worth dividing";
  EXPECT_EQ(balancer.count(3, 1), 1U);
  EXPECT_EQ(balancer.count(3, 0), 0U);
}

TEST(LoadBalancer, GivesByMeasuredSpeed) {
  LoadBalancer balancer(3);
  balancer.took(0, 30, 1.0);  // 30 per second
  balancer.took(1, 10, 1.0);
  // The third worker was not measured and counts as the mean, 20. Of 120 items, the shares are 60, 20 and 40.
  EXPECT_EQ(balancer.count(0, 120), 30U);
  EXPECT_EQ(balancer.count(1, 120), 10U);
  EXPECT_EQ(balancer.count(2, 120), 20U);
}

TEST(LoadBalancer, LeavesTheLastItemsToFastWorkers) {
  LoadBalancer balancer(2);
  balancer.took(0, 100, 1.0);
  balancer.took(1, 1, 1.0);
  // The slow worker takes 1 s for an item. 50 items take the other half a second, 1000 items ten.
  EXPECT_EQ(balancer.count(1, 50), 0U);
  EXPECT_EQ(balancer.count(1, 1000), 5U);
  EXPECT_EQ(balancer.count(0, 1), 1U) << "the fastest worker always gets an item";
}

TEST(LoadBalancer, FollowsChangesOfSpeed) {
  LoadBalancer balancer(2);
  for (int i = 0; i < 20; ++i) balancer.took(0, 10, 1.0), balancer.took(1, 10, 1.0);
  EXPECT_EQ(balancer.count(0, 100), 25U);
  for (int i = 0; i < 20; ++i) balancer.took(0, 30, 1.0);
  EXPECT_EQ(balancer.count(0, 100), 38U);  // half of 75, rounded up
}

TEST(LoadBalancer, LimitsAWorkerToAnEqualShareAfterOneVeryShortTime) {
  LoadBalancer balancer(4);
  for (std::size_t worker = 0; worker < 4; ++worker) balancer.took(worker, 10, 1.0);
  balancer.took(0, 10, 0.0);
  EXPECT_EQ(balancer.count(0, 400), 80U) << "twice as fast as the others, not without limit";
  for (int i = 0; i < 20; ++i) balancer.took(0, 10, 0.0);
  EXPECT_EQ(balancer.count(0, 400), 100U);
  balancer.took(0, 10, 1.0);
  EXPECT_LT(balancer.count(0, 400), 100U) << "its next measured time lowers its speed";
}

}  // namespace
}  // namespace emplace::dist::load_balancer_test
