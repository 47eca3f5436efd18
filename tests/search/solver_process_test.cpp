#include "search/common/solver_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "search/common/budget_clock.hpp"
#include "search/exact/integer_program.hpp"

namespace emplace::search::solver_process_test {
namespace {

using ::testing::HasSubstr;
using Stopped = std::function<bool()>;

TEST(SolverProcess, NumbersComeBackBitForBit) {
  const std::vector<double> numbers = {0.1, -0.0, 1e-310, INFINITY};
  const auto text = run_solver("CBC", "", {}, [&](const Stopped&) { return text_of(numbers); });
  ASSERT_TRUE(text.has_value());
  const std::vector<double> back = numbers_of<double>(*text);
  EXPECT_EQ(back, numbers);
  EXPECT_TRUE(std::signbit(back[1]));
}

TEST(SolverProcess, ASolverThatCrashesLeavesNoAnswerButOneSentence) {
  ::testing::internal::CaptureStderr();
  const auto text = run_solver("CBC", "nothing is placed", {}, [](const Stopped&) -> std::string { std::abort(); });
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_FALSE(text.has_value());
  EXPECT_THAT(said, HasSubstr("the solver CBC failed: signal 6 (Aborted); nothing is placed\n"));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1);
}

TEST(SolverProcess, ASolverLearnsThatItShouldStop) {
  const auto text = run_solver(
      "CLP", "", [] { return true; },
      [](const Stopped& stopped) { return std::string(stopped() ? "stopped" : "went on"); });
  EXPECT_EQ(text, "stopped");
}

double computed() { return clock_seconds(BudgetClock::cpu); }

void compute(double seconds) {
  for (const double begin = computed(); computed() < begin + seconds;) {
  }
}

// A budget that a parent gave ends in the child when the parent meant it to, whatever the parent had computed before.
TEST(SolverProcess, TheClockOfCpuTimeGoesOnInTheChildAndCountsItAfterItsEnd) {
  compute(0.05);
  const double before = computed();
  const auto text = run_solver("CLP", "", {}, [](const Stopped&) {
    const double at_start = computed();
    compute(0.05);
    return text_of(std::vector{at_start, computed()});
  });
  const double after = computed();
  ASSERT_TRUE(text.has_value());
  const std::vector<double> in_child = numbers_of<double>(*text);
  EXPECT_GE(in_child[0], before);
  EXPECT_LT(in_child[0], before + 0.05);
  EXPECT_GE(after, in_child[1] - 1e-3) << "the system counts ended children in microseconds";
}

// A row with a column that does not exist: the solver throws an error of its own type, with cuts and without.
TEST(SolverProcess, AProgramOnWhichCbcAlwaysCrashesIsNotSolved) {
  IntegerProgram program;
  program.add_column(0, 1, 1, true);
  const std::pair<int, double> terms[] = {{-1, 1.0}};
  program.add_row(terms, 1, 1);
  ::testing::internal::CaptureStderr();
  const IntegerAnswer answer = minimise(program, {});
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(answer.failed);
  EXPECT_FALSE(answer.finished);
  EXPECT_TRUE(answer.solution.empty());
  EXPECT_THAT(said, HasSubstr("it starts again without cuts"));
  EXPECT_THAT(said, HasSubstr("the program is not solved"));
}

}  // namespace
}  // namespace emplace::search::solver_process_test
