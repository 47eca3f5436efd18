// A program that keeps running answers line by line; whatever it does instead, none of its processes is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <optional>

#include "base/files.hpp"
#include "evaluate/command/program_run.hpp"
#include "tests/support/marked_processes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::evaluate::kept_program_test {
namespace {

using namespace ::testing;

class Kept : public ::testing::Test {
 protected:
  ~Kept() override {
    program_.reset();
    EXPECT_THAT(test::processes_with(mark_), IsEmpty());
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child or a zombie is left";
    EXPECT_EQ(errno, ECHILD);
  }

  // Each start of the shell script adds a line to the file `starts`.
  void start(const std::string& script, double seconds = 60) {
    ProgramToRun program{.words = {"/bin/sh", "-c", "echo start >>starts; " + script},
                         .environment = environment_without_mpi(),
                         .folder = folder_.path(),
                         .seconds = seconds};
    program.environment.push_back(mark_);
    program_.emplace(std::move(program));
  }
  std::string answer(const std::string& line) {
    const ProgramEnd end = program_->ask(line);
    EXPECT_EQ(end.failure, "") << line;
    return end.output;
  }
  std::string failure(const std::string& line) {
    const ProgramEnd end = program_->ask(line);
    EXPECT_EQ(end.output, "") << line;
    EXPECT_THAT(test::processes_with(mark_), IsEmpty()) << line;
    return end.failure;
  }
  [[nodiscard]] std::size_t starts() const { return read_file(folder_ / "starts").size() / std::strlen("start\n"); }

  const test::TemporaryFolder folder_;
  const std::string mark_ = "EMPLACE_TEST_MARK=kept" + std::to_string(::getpid());
  std::optional<KeptProgram> program_;
};

TEST_F(Kept, OneStartAnswersEveryLineInOrder) {
  start("i=0; while read line; do i=$((i + 1)); echo $i $line; echo noise >&2; done");
  for (const char* line : {"a", "b", "c"}) EXPECT_EQ(answer(line), std::to_string(*line - 'a' + 1) + " " + line);
  EXPECT_EQ(starts(), 1U);
}

TEST_F(Kept, ALineMayBeLongerThanAPipeHolds) {
  start("while read line; do echo ${#line}; done");
  EXPECT_EQ(answer(std::string(3'000'000, 'a')), "3000000");
  EXPECT_EQ(answer("abc"), "3");
}

TEST_F(Kept, ASlowAnswerEndsTheProgramAndTheNextLineStartsItAgain) {
  start("while read line; do [ $line != slow ] || { setsid sleep 1000 & sleep 1000; }; echo $line; done", 2);
  EXPECT_EQ(answer("a"), "a");
  EXPECT_EQ(failure("slow"), "it printed no answer within 2 s");
  EXPECT_EQ(answer("b"), "b");
  EXPECT_EQ(starts(), 2U);
  start("read line; printf 1; while true; do sleep 1000; done", 0.2);
  EXPECT_EQ(failure("half"), "it printed no whole line within 200 ms");
}

TEST_F(Kept, SaysHowTheProgramEndedInsteadOfAnAnswer) {
  start("while read line; do echo 1; read line; echo 'no such GPU' >&2; eval \"$line\"; done");
  EXPECT_EQ(answer("first"), "1");
  EXPECT_EQ(failure("exit 3"), "it ended with exit code 3: 'no such GPU'");
  EXPECT_EQ(answer("first"), "1");
  EXPECT_EQ(failure("exit 0"), "it ended without an answer: 'no such GPU'");
  EXPECT_EQ(answer("first"), "1");
  EXPECT_THAT(failure("kill -SEGV $$"), StartsWith("it was ended by signal 11 (Segmentation fault)"));
  EXPECT_EQ(starts(), 3U);
}

TEST_F(Kept, AnEndBetweenTwoLinesIsAFailureOfTheSecond) {
  start("read line; echo $line");
  EXPECT_EQ(answer("a"), "a");
  EXPECT_EQ(failure("b"), "it ended without an answer");
  EXPECT_EQ(answer("c"), "c");
}

TEST_F(Kept, WhatItSaidOfAnEarlierLineIsNoReasonOfALaterFailure) {
  start("read line; echo careless >&2; sleep 0.2; echo 1; read line; exit 4");
  EXPECT_EQ(answer("a"), "1");
  EXPECT_EQ(failure("b"), "it ended with exit code 4");
}

TEST_F(Kept, MoreThanALineIsNoAnswer) {
  start("while read line; do printf '1\\n2\\n'; done");
  EXPECT_EQ(failure("a"), "it printed '1\\x0a2\\x0a', wanted one line");
  start("while read line; do echo 1; (sleep 0.1; echo late; touch late) & done");
  EXPECT_EQ(answer("a"), "1");
  while (!file_exists(folder_ / "late")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(failure("b"), "it printed 'late\\x0a' before it was asked");
}

TEST_F(Kept, TheLimitOnItsOutputIsThatOfOneAnswer) {
  start("while read line; do $line; done");
  EXPECT_THAT(failure("yes"), StartsWith("it printed 'y\\x0ay"));
  EXPECT_EQ(failure("head -c 1048577 /dev/zero"), "it printed more than 1.00 MiB");
  EXPECT_EQ(failure("cat /dev/zero"), "it printed more than 1.00 MiB");
  start("while read line; do head -c 600000 /dev/zero | tr '\\0' 1; echo; done");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answer("next").size(), 600'000U);
  EXPECT_EQ(starts(), 3U + 1U);
}

TEST_F(Kept, AProgramThatReadsNothingIsNotWaitedForLongerThanItsLimit) {
  start("exec <&-; sleep 1000", 0.3);
  EXPECT_EQ(failure(std::string(3'000'000, 'a')), "it printed no answer within 300 ms");
}

TEST_F(Kept, AtTheEndOfItsInputItMayEndByItself) {
  start("while read line; do echo $line; done; echo over >over");
  EXPECT_EQ(answer("a"), "a");
  program_.reset();
  EXPECT_EQ(read_file(folder_ / "over"), "over\n");
}

TEST_F(Kept, AtTheEndNothingIsLeftOfAProgramThatGoesOn) {
  start("setsid sleep 1000 & while read line; do echo $line; done; trap '' TERM; sleep 1000; sleep 1000");
  EXPECT_EQ(answer("a"), "a");
  program_.reset();
  EXPECT_THAT(test::processes_with(mark_), IsEmpty());
}

TEST_F(Kept, NothingOfItOutlivesTheProcessThatAsks) {
  start("setsid sleep 1000 & while read line; do echo $line; done; sleep 1000");
  const pid_t rank = ::fork();
  ASSERT_GE(rank, 0);
  if (rank == 0) {
    const bool answered = program_->ask("a").output == "a";
    std::ofstream(folder_ / "answered") << answered << std::flush;
    while (true) ::pause();
  }
  while (!file_exists(folder_ / "answered") || read_file(folder_ / "answered").empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(read_file(folder_ / "answered"), "1");
  EXPECT_GE(test::processes_with(mark_).size(), 3U);  // subreaper, shell, sleep
  ::kill(rank, SIGKILL);
  ::waitpid(rank, nullptr, 0);
  EXPECT_TRUE(test::none_left_with(mark_));
}

}  // namespace
}  // namespace emplace::evaluate::kept_program_test
