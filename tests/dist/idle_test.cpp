#include "dist/idle.hpp"

#include <gtest/gtest.h>

namespace emplace::dist::idle_test {
namespace {

using namespace std::chrono_literals;

TEST(Idle, NapsAnEighthOfTheWaitSoThatShortWaitsStayShort) {
  EXPECT_EQ(Idle::nap(0ns), 2us);
  EXPECT_EQ(Idle::nap(80us), 10us);
  EXPECT_EQ(Idle::nap(800us), 100us);
  EXPECT_EQ(Idle::nap(1600us), 200us);
}

TEST(Idle, NapsUsuallyAtMost200MicrosecondsAndInLongWaitsAHundredthUpTo5Milliseconds) {
  EXPECT_EQ(Idle::nap(20ms), 200us);
  EXPECT_EQ(Idle::nap(100ms), 1ms);
  EXPECT_EQ(Idle::nap(500ms), 5ms);
  EXPECT_EQ(Idle::nap(1h), 5ms);
}

}  // namespace
}  // namespace emplace::dist::idle_test
