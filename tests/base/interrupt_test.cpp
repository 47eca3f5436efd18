// Stop points: where they throw, and where they do not.
#include "base/interrupt.hpp"

#include <gtest/gtest.h>

#include "emplace/base/error.hpp"

namespace emplace::test::interrupt_test {
namespace {

using namespace std::chrono_literals;

bool throws() {
  try {
    stop_point();
    return false;
  } catch (const Interrupted&) {
    return true;
  }
}

TEST(StopPoint, ThrowsOnlyWithinAnInterruptibleComputationThatIsAskedToStop) {
  bool asked = true;
  EXPECT_FALSE(throws());
  {
    const Interruptible outer([&] { return asked; });
    EXPECT_TRUE(throws());
    EXPECT_TRUE(stop_is_due());
    EXPECT_THROW(Interruptible([] { return true; }), BugError);
    EXPECT_TRUE(throws()) << "it stays asked";
  }
  EXPECT_FALSE(throws());
  asked = false;
  const Interruptible undisturbed([&] { return asked; });
  EXPECT_FALSE(throws());
}

TEST(StopPoint, LetsWorkThatEndsWithinTheGraceEnd) {
  const Interruptible graceful([] { return true; }, 200ms);
  EXPECT_FALSE(throws());
  std::this_thread::sleep_for(250ms);
  EXPECT_TRUE(throws());
}

// `asked` may call a library that other threads must not call.
TEST(StopPoint, OfAnotherThreadThrowsAfterTheOwnThreadWasAsked) {
  std::size_t calls = 0;
  const Interruptible interruptible([&] { return ++calls > 1; });
  const auto elsewhere = [] {
    bool thrown = false;
    std::jthread([&] { thrown = throws(); }).join();
    return thrown;
  };
  EXPECT_FALSE(throws());
  EXPECT_FALSE(elsewhere());
  EXPECT_EQ(calls, 1U);
  EXPECT_TRUE(throws());
  EXPECT_TRUE(elsewhere());
  EXPECT_EQ(calls, 2U);
}

TEST(StopPoint, EndsASleep) {
  const auto begin = std::chrono::steady_clock::now();
  const Interruptible interruptible([&] { return std::chrono::steady_clock::now() - begin > 100ms; });
  EXPECT_THROW(sleep_unless_stopped(1h), Interrupted);
}

}  // namespace
}  // namespace emplace::test::interrupt_test
