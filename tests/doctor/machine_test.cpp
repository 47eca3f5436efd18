// What the checks say of healthy and of faulty machines.
#include "doctor/machine.hpp"

#include <gmock/gmock.h>
#include <sched.h>

#include <cstdlib>

#include "base/cores.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::doctor::machine_test {
namespace {

using namespace ::testing;
using Level = Check::Level;

TEST(CheckCores, OneRankMoreFitsThanThereAreCores) {
  const std::vector<std::int32_t> cores = {0, 1, 2, 3, 8};
  const Check free = check_cores(cores, {});
  EXPECT_EQ(free.level, Level::ok);
  EXPECT_THAT(free.says, AllOf(HasSubstr("(0-3, 8)"), HasSubstr("6 ranks fit")));
  const Check limited = check_cores(cores, {.cores = 2.5, .memory_bytes = {}});
  EXPECT_EQ(limited.level, Level::warning);
  EXPECT_THAT(limited.says, HasSubstr("3 ranks fit"));
}

TEST(AllowedCores, AreThoseThatTheProcessIsBoundTo) {
  const std::vector<std::int32_t> before = allowed_cores();
  cpu_set_t one, all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(before.back()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_THAT(allowed_cores(), ElementsAre(before.back()));
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(allowed_cores(), before);
}

TEST(CheckMemory, ALimitBelowAGigabyteIsAWarning) {
  EXPECT_EQ(check_memory({.cores = {}, .memory_bytes = 1 << 20}).level, Level::warning);
  EXPECT_THAT(check_memory({.cores = {}, .memory_bytes = 1 << 20}).says, HasSubstr("limited to 1.00 MiB"));
}

TEST(CheckLibrary, AnotherVersionThanThatOfTheHeadersIsAWarning) {
  EXPECT_EQ(check_library({"Cbc", "2.10.8", "2.10.8"}).level, Level::ok);
  EXPECT_EQ(check_library({"MPI library", "4.1.4", "Open MPI v4.1.4"}).level, Level::ok);
  EXPECT_EQ(check_library({"METIS", "5.1.0", ""}).level, Level::ok);
  const Check other = check_library({"Cbc", "2.10.8", "2.9.0"});
  EXPECT_EQ(other.level, Level::warning);
  EXPECT_THAT(other.says, AllOf(HasSubstr("2.10.8"), HasSubstr("2.9.0")));
}

TEST(Libraries, SayTheirVersionsInNumbers) {
  const std::vector<Library> all = libraries();
  EXPECT_GE(all.size(), 15U);
  for (const Library& library : all) {
    EXPECT_THAT(library.headers, ContainsRegex("^[0-9]+\\.[0-9]+")) << library.name;
    EXPECT_EQ(check_library(library).level, Level::ok) << library.name << ": " << check_library(library).says;
  }
}

TEST(CheckCheckpoints, WhatIsWrittenIsReadBack) {
  const test::TemporaryFolder folder;
  const Check check = check_checkpoints(folder.path());
  EXPECT_EQ(check.level, Level::ok) << check.says;
}

TEST(CheckCheckpoints, AFolderThatIsNotThereIsAFailure) {
  const test::TemporaryFolder folder;
  const Check check = check_checkpoints(folder / "none");
  EXPECT_EQ(check.level, Level::failure);
  EXPECT_THAT(check.says, HasSubstr("TMPDIR"));
}

TEST(CheckClock, TheSteadyClockIsSteady) { EXPECT_NE(check_clock().level, Level::failure) << check_clock().says; }

TEST(CheckProgram, IsOkOnTheCpuOfThisTest) { EXPECT_EQ(check_program().level, Level::ok) << check_program().says; }

TEST(CheckOnnxRuntime, IsANoteWhereNoneIsNamedAndAWarningWhereANameIsWrong) {
  const char* const before = std::getenv("ONNXRUNTIME_LIBRARY");
  const std::string restore = before != nullptr ? before : "";
  ::unsetenv("ONNXRUNTIME_LIBRARY");
  EXPECT_EQ(check_onnx_runtime().level, Level::ok);
  ::setenv("ONNXRUNTIME_LIBRARY", "/none/libonnxruntime.so", 1);
  EXPECT_EQ(check_onnx_runtime().level, Level::warning);
  EXPECT_THAT(check_onnx_runtime().says, HasSubstr("/none/libonnxruntime.so"));
  ::setenv("ONNXRUNTIME_LIBRARY", "libc.so.6", 1);
  EXPECT_THAT(check_onnx_runtime().says, HasSubstr("no OrtGetApiBase"));
  EXPECT_STREQ(std::getenv("ORT_DISABLE_TELEMETRY"), "1") << "otherwise ONNX Runtime leaves files";
  if (before != nullptr)
    ::setenv("ONNXRUNTIME_LIBRARY", restore.c_str(), 1);
  else
    ::unsetenv("ONNXRUNTIME_LIBRARY");
}

TEST(CheckMpiAlone, SaysWhetherItStarts) {
  const Check check = check_mpi_alone();
  EXPECT_EQ(check.level, Level::ok) << check.says;
}

dist::RankReport rank(int number, const std::string& host, std::vector<std::int32_t> cores) {
  return {.rank = number,
          .host = host,
          .program = "emplace",
          .cores = std::move(cores),
          .round_trip_s = 1e-6,
          .bytes_per_s = 1e9};
}

TEST(CheckRanks, Rank0NeedsNoCoreOfItsOwn) {
  // Rank 0 sleeps; the two ranks that work have two cores.
  const std::vector<dist::RankReport> fit = {rank(0, "one", {0, 1}), rank(1, "one", {0, 1}), rank(2, "one", {0, 1})};
  ASSERT_EQ(check_ranks(fit).size(), 1U);
  EXPECT_EQ(check_ranks(fit).front().level, Level::ok);
}

TEST(CheckRanks, MoreRanksThanCoresIsAWarning) {
  // On host two all three work, on one core.
  const std::vector<dist::RankReport> ranks = {rank(0, "one", {0}), rank(1, "two", {0}), rank(2, "two", {0}),
                                               rank(3, "two", {0})};
  const Checks checks = check_ranks(ranks);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].level, Level::ok);
  EXPECT_EQ(checks[1].level, Level::warning);
  EXPECT_THAT(checks[1].says, AllOf(HasSubstr("3 ranks that work share 1 core"), HasSubstr("2 fewer")));
}

TEST(CheckRanks, AnotherBuildIsAFailureAndASlowAnswerAWarning) {
  std::vector<dist::RankReport> ranks = {rank(0, "one", {0, 1}), rank(1, "one", {0, 1})};
  ranks[1].program = "an older emplace";
  ranks[1].round_trip_s = 0.5;
  const Checks checks = check_ranks(ranks);
  ASSERT_EQ(checks.size(), 3U);
  EXPECT_EQ(checks[0].level, Level::failure);
  EXPECT_THAT(checks[0].says, HasSubstr("an older emplace"));
  EXPECT_EQ(checks[1].level, Level::warning);
}

}  // namespace
}  // namespace emplace::doctor::machine_test
