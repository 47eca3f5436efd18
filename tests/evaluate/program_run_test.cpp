// A program of the user may do anything; after its run none of its processes is left.
#include "evaluate/command/program_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "emplace/base/error.hpp"
#include "tests/support/marked_processes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::evaluate::program_run_test {
namespace {

using namespace ::testing;
using Clock = std::chrono::steady_clock;

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

class ProgramRun : public ::testing::Test {
 protected:
  ProgramRun() {
    // The first run opens the subreaper's image, which happens once per process.
    static const ProgramEnd warm = run_program(shell("true"), input_);
    descriptors_ = open_descriptors();
  }
  ~ProgramRun() override {
    EXPECT_THAT(test::processes_with(mark_), IsEmpty());
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child or a zombie is left";
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(open_descriptors(), descriptors_);
    ::close(input_);
  }

  ProgramToRun words(std::vector<std::string> list, double seconds = 60) const {
    ProgramToRun program{
        .words = std::move(list), .environment = environment_without_mpi(), .folder = "/", .seconds = seconds};
    program.environment.push_back(mark_);
    return program;
  }
  ProgramToRun shell(const std::string& script, double seconds = 60) const {
    return words({"/bin/sh", "-c", script}, seconds);
  }
  ProgramEnd run(const std::string& script, double seconds = 60) const {
    return run_program(shell(script, seconds), input_);
  }

  const std::string mark_ = "EMPLACE_TEST_MARK=" + std::to_string(::getpid());
  const int input_ = input_file("placement\n");
  std::size_t descriptors_ = 0;
};

TEST_F(ProgramRun, GivesWhatTheProgramPrints) {
  const ProgramEnd end = run("cat; echo 0.5; echo unimportant >&2");
  EXPECT_EQ(end.failure, "");
  EXPECT_EQ(end.output, "placement\n0.5\n");
}

TEST_F(ProgramRun, GivesEveryRunTheWholeInput) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run("read first; echo $first").output, "placement\n");
  EXPECT_EQ(run("echo spoilt >/dev/stdin; cat").output, "placement\n") << "the program must not change its input";
}

TEST_F(ProgramRun, SaysHowAProgramFailed) {
  EXPECT_EQ(run("echo 1; echo starting >&2; echo 'no such GPU' >&2; exit 3").failure,
            "it ended with exit code 3: 'no such GPU'");
  EXPECT_THAT(run("kill -SEGV $$").failure, StartsWith("it was ended by signal 11 (Segmentation fault)"));
  EXPECT_THAT(run_program(words({"/no/such/program"}), input_).failure, HasSubstr("cannot be started: No such file"));
}

TEST_F(ProgramRun, SaysThatAScriptNeedsAnInterpreter) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "script") << "echo 1\n";
  std::filesystem::permissions(folder / "script", std::filesystem::perms::owner_all);
  EXPECT_THAT(run_program(words({folder / "script"}), input_).failure, HasSubstr("#!/bin/sh"));
}

TEST_F(ProgramRun, EndsAProgramThatHangs) {
  for (const char* script :
       {"sleep 1000", "trap '' TERM HUP INT; while true; do sleep 1000; done", "while true; do :; done",
        "sleep 1000 & sleep 1000 | sleep 1000", "kill -STOP $$", "exec >&- 2>&- <&-; sleep 1000"}) {
    const auto begin = Clock::now();
    const ProgramEnd end = run(script, 0.2);
    EXPECT_THAT(end.failure, StartsWith("it ran longer than 200 ms")) << script;
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5)) << script;
    EXPECT_THAT(test::processes_with(mark_), IsEmpty()) << script;
  }
}

TEST_F(ProgramRun, EndsAProgramThatPrintsWithoutEnd) {
  const auto begin = Clock::now();
  EXPECT_THAT(run("yes").failure, StartsWith("it printed more than 1.00 MiB"));
  EXPECT_THAT(run("yes 'to the wrong place' >&2", 0.3).failure, HasSubstr("longer than"));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(run("head -c 1000000 /dev/zero").output.size(), 1'000'000U);
  EXPECT_THAT(run("head -c 1048577 /dev/zero").failure, StartsWith("it printed more than"));
}

TEST_F(ProgramRun, EndsWhatTheProgramLeavesBehind) {
  // Processes in the background, in another session, two generations deep, and that ignore signals; all keep the output
  // open.
  for (const char* script :
       {"sleep 1000 & echo 1", "setsid sleep 1000 & echo 1", "(setsid sh -c 'sleep 1000 & sleep 1000' &) ; echo 1",
        "nohup setsid sh -c \"trap '' TERM HUP; (sleep 1000 & sleep 1000); sleep 1000\" & echo 1",
        "for i in 1 2 3 4 5 6 7 8 9; do setsid sleep 1000 & done; echo 1",
        // A process that starts its successor and ends, again and again.
        "export again='sleep 0.002; setsid sh -c \"$again\" &'; sh -c \"$again\"; sleep 0.1; echo 1"}) {
    const auto begin = Clock::now();
    const ProgramEnd end = run(script);
    EXPECT_EQ(end.failure, "") << script;
    EXPECT_EQ(end.output, "1\n") << script;
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5)) << script;
    EXPECT_THAT(test::processes_with(mark_), IsEmpty()) << script;
  }
}

TEST_F(ProgramRun, SurvivesAProgramThatKillsItsOwnGroup) {
  EXPECT_THAT(run("trap '' TERM; kill -TERM 0; echo 1").output, "1\n");
  EXPECT_THAT(run("kill -KILL 0").failure, StartsWith("it was ended by signal 9"));
}

TEST_F(ProgramRun, DoesNotWaitForAProgramThatReadsNothing) {
  const int big = input_file(std::string(20'000'000, 'a'));
  EXPECT_EQ(run_program(shell("echo 1"), big).output, "1\n");
  EXPECT_EQ(run_program(shell("exec <&-; echo 1"), big).output, "1\n");
  EXPECT_EQ(run_program(shell("head -c 3"), big).output, "aaa");
  EXPECT_EQ(run_program(shell("wc -c"), big).output, "20000000\n");
  ::close(big);
}

TEST_F(ProgramRun, StartsThemWithThreeDescriptorsAndNoSignalIgnored) {
  const int leaked = ::dup(STDERR_FILENO);  // without O_CLOEXEC, as other libraries open theirs
  const auto before = std::signal(SIGINT, SIG_IGN);
  const ProgramEnd end =
      run("for i in $(seq 3 99); do [ ! -e /proc/$$/fd/$i ] || echo open $i; done; trap 'echo interrupted' INT; kill "
          "-INT $$");
  std::signal(SIGINT, before);
  ::close(leaked);
  EXPECT_EQ(end.output, "interrupted\n") << "a shell cannot trap what it was started to ignore";
}

TEST_F(ProgramRun, DoesNotTellThemThatTheyAreRanks) {
  ::setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  ::setenv("PMIX_RANK", "1", 1);
  ::setenv("EMPLACE_KEPT", "yes", 1);
  const ProgramEnd end = run("env | grep -c -E '^(OMPI|PMIX)'; echo $EMPLACE_KEPT");
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "EMPLACE_KEPT"}) ::unsetenv(name);
  EXPECT_EQ(end.output, "0\nyes\n");
}

TEST_F(ProgramRun, NothingOfItOutlivesTheProcessThatRunsIt) {
  const pid_t rank = ::fork();
  ASSERT_GE(rank, 0);
  if (rank == 0) {
    (void)run("setsid sleep 1000 & (setsid sleep 1000 &); sleep 1000");
    ::_exit(0);
  }
  const auto end = Clock::now() + std::chrono::seconds(10);
  std::size_t most = 0;  // shell, three sleeps, and the subreaper; for a moment also shells that start the sleeps
  while ((most = std::max(most, test::processes_with(mark_).size())) < 4 && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(most, 4U);
  ::kill(rank, SIGKILL);
  ::waitpid(rank, nullptr, 0);
  EXPECT_TRUE(test::none_left_with(mark_));
}

TEST(FindProgram, LooksInTheFolderOrInThePath) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "measure") << "#!/bin/sh\n";
  std::ofstream(folder / "notes.txt") << "text\n";
  std::filesystem::permissions(folder / "measure", std::filesystem::perms::owner_all);
  EXPECT_EQ(find_program("./measure", folder.path(), "here"), folder / "./measure");
  EXPECT_EQ(find_program(folder / "measure", "/", "here"), folder / "measure");
  EXPECT_THAT(find_program("sh", folder.path(), "here"), EndsWith("/sh"));
  const auto refused = [&](const std::string& program, const std::string& why) {
    EXPECT_THAT([&] { (void)find_program(program, folder.path(), "here"); },
                ThrowsMessage<InputError>(AllOf(StartsWith("here: "), HasSubstr(why))))
        << program;
  };
  refused("./mesure", "did you mean 'measure'?");
  refused("measure", "did you mean './measure'?");
  refused("./notes.txt", "Permission denied");
  refused("./", "is a folder");
  refused("no-such-program", "in the folders of PATH");
}

}  // namespace
}  // namespace emplace::evaluate::program_run_test
