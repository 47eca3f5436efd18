#include "base/contained.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "emplace/base/error.hpp"

namespace emplace::contained_test {
namespace {

TEST(Contained, ReturnsTheTextAndTheLastStep) {
  const std::string large(3'000'000, 'x');  // more than a pipe holds
  const Contained done = run_contained({}, [&](ContainedWork& work) {
    work.step = 7;
    return large;
  });
  EXPECT_EQ(done.result, large);
  EXPECT_EQ(done.killed, "");
  EXPECT_EQ(done.step, 7u);
}

TEST(Contained, ACrashIsReportedWithTheStepAtWhichItHappened) {
  const Contained done = run_contained({}, [](ContainedWork& work) -> std::string {
    work.step = 3;
    std::raise(SIGSEGV);
    return "never";
  });
  EXPECT_THAT(done.killed, ::testing::HasSubstr("signal 11"));
  EXPECT_EQ(done.result, "");
  EXPECT_EQ(done.step, 3u);
}

TEST(Contained, WorkWithoutEndIsStoppedByItsProcessorTime) {
  const Contained done = run_contained({.cpu_seconds = 1}, [](ContainedWork& work) -> std::string {
    for (;;) ++work.step;
  });
  EXPECT_EQ(done.killed, "more than 1 s of work or too little memory");
}

TEST(Contained, MemoryBeyondTheLimitIsNotGiven) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's allocator ends the process instead";
#endif
  const Contained done = run_contained({.memory_bytes = 64 << 20}, [](ContainedWork&) -> std::string {
    try {
      const std::vector<char> much(std::size_t{1} << 30, 1);
      return "got " + std::to_string(much.size());
    } catch (const std::bad_alloc&) {
      return "refused";
    }
  });
  EXPECT_EQ(done.result, "refused");
}

TEST(Contained, AFailedAssertionPrintsNothing) {
  ::testing::internal::CaptureStderr();
  const Contained done = run_contained({}, [](ContainedWork&) -> std::string {
    std::fputs("a.cpp:1: Assertion failed.", stderr);
    std::abort();
  });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(done.killed, "signal 6 (Aborted)");
}

TEST(Contained, ARequestToStopReachesTheWorkAndItsResultComesBack) {
  const Containment limits{
      .memory_bytes = {}, .cpu_seconds = {}, .stop = [asked = 0]() mutable { return ++asked > 3; }};
  const Contained done = run_contained(limits, [](ContainedWork& work) -> std::string {
    while (!work.stop) ++work.step;
    return "so far";
  });
  EXPECT_EQ(done.result, "so far");
  EXPECT_GT(done.step, 0u);
}

// As Ctrl-C in a terminal does, which sends it to the child too.
TEST(Contained, AnInterruptDoesNotEndTheChild) {
  const Contained done = run_contained({}, [](ContainedWork&) -> std::string {
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) std::raise(signal);
    return "still here";
  });
  EXPECT_EQ(done.result, "still here");
}

TEST(Contained, AnErrorOfTheRequestToStopEndsTheChild) {
  const Containment limits{.stop = [asked = 0]() mutable -> bool {
    if (++asked > 2) throw InputError("file", "is bad");
    return false;
  }};
  EXPECT_THROW(run_contained(limits,
                             [](ContainedWork&) -> std::string {
                               for (;;) ::pause();
                             }),
               InputError);
}

TEST(Contained, AnErrorOfTheWorkComesBackAndOneOfAnUnknownTypeIsACrash) {
  try {
    run_contained({}, [](ContainedWork&) -> std::string { throw InputError("file", "is bad"); });
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "file: is bad");
  }
  EXPECT_THROW(run_contained({}, [](ContainedWork&) -> std::string { throw std::runtime_error("oops"); }), BugError);
  EXPECT_THROW(run_contained({}, [](ContainedWork&) -> std::string { throw std::bad_alloc(); }), std::bad_alloc);
  const Contained foreign = run_contained({}, [](ContainedWork&) -> std::string { throw 5; });
  EXPECT_EQ(foreign.killed, "signal 6 (Aborted)");
}

}  // namespace
}  // namespace emplace::contained_test
