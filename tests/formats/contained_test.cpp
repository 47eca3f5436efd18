#include "formats/contained.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <vector>

#include "emplace/base/error.hpp"

namespace emplace::formats::contained_test {
namespace {

using Step = std::atomic<std::uint64_t>;

TEST(Contained, ReturnsTheTextAndTheLastStep) {
  const std::string large(3'000'000, 'x');  // more than a pipe holds
  const Contained done = run_contained({}, [&](Step& step) {
    step = 7;
    return large;
  });
  EXPECT_EQ(done.result, large);
  EXPECT_EQ(done.killed, "");
  EXPECT_EQ(done.step, 7u);
}

TEST(Contained, ACrashIsReportedWithTheStepAtWhichItHappened) {
  const Contained done = run_contained({}, [](Step& step) -> std::string {
    step = 3;
    std::raise(SIGSEGV);
    return "never";
  });
  EXPECT_THAT(done.killed, ::testing::HasSubstr("signal 11"));
  EXPECT_EQ(done.result, "");
  EXPECT_EQ(done.step, 3u);
}

TEST(Contained, WorkWithoutEndIsStoppedByItsProcessorTime) {
  const Contained done = run_contained({.cpu_seconds = 1}, [](Step& step) -> std::string {
    for (;;) ++step;
  });
  EXPECT_EQ(done.killed, "more than 1 s of work or too little memory");
}

TEST(Contained, MemoryBeyondTheLimitIsNotGiven) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's allocator ends the process instead";
#endif
  const Contained done = run_contained({.memory_bytes = 64 << 20}, [](Step&) -> std::string {
    try {
      const std::vector<char> much(std::size_t{1} << 30, 1);
      return "got " + std::to_string(much.size());
    } catch (const std::bad_alloc&) {
      return "refused";
    }
  });
  EXPECT_EQ(done.result, "refused");
}

TEST(Contained, AnInputErrorComesBackAsOneAndAnyOtherErrorAsABug) {
  try {
    run_contained({}, [](Step&) -> std::string { throw InputError("file", "is bad"); });
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "file: is bad");
  }
  EXPECT_THROW(run_contained({}, [](Step&) -> std::string { throw std::runtime_error("oops"); }), BugError);
}

}  // namespace
}  // namespace emplace::formats::contained_test
