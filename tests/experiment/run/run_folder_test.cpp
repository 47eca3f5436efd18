#include "experiment/run/run_folder.hpp"
#include "experiment/run/metrics_file.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::run_folder_test {
namespace {

ConfigTable some_config() { return ConfigTable::parse_toml("seed = 1\n", "c"); }

TEST(RunFolder, AFinishedRunIsMovedAsideAndNeverOverwritten) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "run";
  {
    const RunFolder first = RunFolder::create(path, some_config());
    write_file(first.file("precious"), "x");
  }
  const RunFolder second = RunFolder::create(path + "/", some_config());
  EXPECT_EQ(second.moved_aside(), path + ".1");
  EXPECT_EQ(read_file(path + ".1/precious"), "x");
  EXPECT_FALSE(file_exists(second.file("precious")));
}

TEST(RunFolder, ALiveRunIsNotDisturbed) {
  const test::TemporaryFolder folder;
  const RunFolder first = RunFolder::create(folder / "run", some_config());
  EXPECT_THROW(RunFolder::create(folder / "run", some_config()), InputError);
  EXPECT_THROW(RunFolder::open(folder / "run"), InputError);
}

TEST(RunFolder, TheLockEndsWithItsHolder) {
  const test::TemporaryFolder folder;
  { const RunFolder first = RunFolder::create(folder / "run", some_config()); }
  EXPECT_EQ(RunFolder::open(folder / "run").config().whole("seed", 0), 1);
}

std::string refusal_to_create(const std::string& path) {
  try {
    (void)RunFolder::create(path, some_config(), IfThere::refuse);
  } catch (const InputError& error) {
    return error.what();
  }
  return "created";
}

TEST(RunFolder, SaysWhatItHoldsWhenAnEarlierRunIsNotToBeMoved) {
  const test::TemporaryFolder folder;
  const std::string run = folder / "run";
  EXPECT_EQ(refusal_to_create(run), "created");
  EXPECT_THAT(refusal_to_create(run), ::testing::HasSubstr(run + ": holds an interrupted run: `--continue` goes on"));
  write_file(run + "/status", "finished\n");
  EXPECT_THAT(refusal_to_create(run + "/"), ::testing::HasSubstr("holds a finished run"));
  write_file(run + "/status", "");
  write_file(run + "/config.toml", "[space]\ngroups = [1, 2]\n");
  EXPECT_THAT(refusal_to_create(run), ::testing::HasSubstr("holds a begun sweep"));
  EXPECT_FALSE(file_exists(run + ".1"));
}

void report(const std::array<int, 2>& pipe) { (void)!write(pipe[1], "x", 1); }
bool wait_for_report(const std::array<int, 2>& pipe) {
  char byte = 0;
  return read(pipe[0], &byte, 1) == 1;
}

// Two processes that find an earlier run and move it aside: one gets the folder, and the other must not move that one's
// folder while it works there.
TEST(RunFolder, OfTwoProcessesThatStartAtOnceOneGetsTheFolder) {
  for (int pair = 0; pair < 40; ++pair) {
    const test::TemporaryFolder folder;
    const std::string path = folder / "run";
    { const RunFolder earlier = RunFolder::create(path, some_config()); }
    std::array<int, 2> start{}, tried{}, end{};
    for (auto* each : {&start, &tried, &end}) ASSERT_EQ(pipe(each->data()), 0);
    std::array<pid_t, 2> children{};
    for (std::size_t i = 0; i < children.size(); ++i) {
      children[i] = fork();
      ASSERT_GE(children[i], 0);
      if (children[i] != 0) continue;
      alarm(60);  // in case the parent dies
      close(start[1]);
      close(end[1]);
      wait_for_report(start);
      try {
        const RunFolder mine = RunFolder::create(path, ConfigTable::parse_toml(fmt::format("seed = {}\n", i), "c"));
        const std::string config = read_file(path + "/config.toml");
        report(tried);
        wait_for_report(end);  // until the other one has tried too
        const bool undisturbed = read_file(path + "/config.toml") == config && mine.config().whole("seed", 9) == int(i);
        _exit(undisturbed ? 0 : 1);
      } catch (const InUse&) {
        report(tried);
        _exit(2);
      } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        report(tried);
        _exit(3);
      }
    }
    close(start[0]);
    close(start[1]);  // both begin
    for (std::size_t i = 0; i < children.size(); ++i) EXPECT_TRUE(wait_for_report(tried));
    for (const int each : {tried[0], tried[1], end[0], end[1]}) close(each);
    std::vector<int> codes;
    for (const pid_t child : children) {
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
    }
    EXPECT_THAT(codes, ::testing::UnorderedElementsAre(0, 2));
    EXPECT_TRUE(file_exists(path + ".1/config.toml"));
    EXPECT_FALSE(file_exists(path + ".2")) << "a live folder was moved";
  }
}

bool has_open(pid_t process, const std::string& file) {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", process)))
    if (std::filesystem::read_symlink(entry.path(), gone) == file) return true;
  return false;
}

TEST(RunFolder, OpeningOneThatWasMovedWhileWaitingForItOpensWhatIsThereNow) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "run";
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    const RunFolder first = RunFolder::create(path, some_config());
    const std::string lock = std::filesystem::canonical(path + "/lock");
    report(ready);
    if (!test::comes_true([&] { return has_open(getppid(), lock); })) _exit(1);  // the other one waits
    replace_file(path, path + ".1");
    make_folder(path);
    write_file(path + "/config.toml", "seed = 2\n");
    _exit(0);
  }
  ASSERT_TRUE(wait_for_report(ready));
  EXPECT_EQ(RunFolder::open(path, 30).config().whole("seed", 0), 2);
  EXPECT_TRUE(file_exists(path + "/lock")) << "the lock is that of the folder that is there now";
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST(RunFolder, OpeningWhatIsNoRunSaysSo) {
  const test::TemporaryFolder folder;
  EXPECT_THROW(RunFolder::open(folder.path()), InputError);
  write_file(folder / "file", "x");
  EXPECT_THROW(RunFolder::create(folder / "file", some_config()), InputError);
}

TEST(Metrics, AResumedRunKeepsTheRowsUpToItsCheckpoint) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "metrics.csv";
  {
    MetricsFile metrics(path, 0);
    for (int update = 1; update <= 5; ++update) metrics.add({{"update", update}, {"reward", update / 2.0}});
  }
  {
    MetricsFile metrics(path, 2);
    metrics.add({{"update", 3}, {"reward", std::nan("")}});
  }
  EXPECT_EQ(read_file(path), "update,reward\n1,0.5\n2,1\n3,\n");
}

TEST(Metrics, ARunThatAnOlderProgramBeganKeepsItsColumns) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "metrics.csv";
  write_file(path, "update,reward\n1,0.5\n");
  {
    MetricsFile metrics(path, 1);
    metrics.add({{"update", 2}, {"median", 7}, {"reward", 0.25}});
  }
  EXPECT_EQ(read_file(path), "update,reward\n1,0.5\n2,0.25\n");
}

TEST(Metrics, ARowTornByACrashIsDropped) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "metrics.csv";
  write_file(path, "update,reward\n1,0.5\n2,0.");
  { MetricsFile metrics(path, 2); }
  EXPECT_EQ(read_file(path), "update,reward\n1,0.5\n");
}

TEST(Metrics, OfAResumedRunAreThoseOfItsHistory) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "metrics.csv";
  const MetricsHistory history = {{"update", {1, 2}}, {"reward", {0.5, std::nan("")}}};
  for (const char* there : {"update,reward\n1,0.5\n2,\n3,9\n", "update,reward\n", "update,rew", ""}) {
    write_file(path, there);
    { MetricsFile metrics(path, history); }
    EXPECT_EQ(read_file(path), "update,reward\n1,0.5\n2,\n") << there;
  }
  write_file(path, "reward\n");
  { MetricsFile metrics(path, history); }
  EXPECT_EQ(read_file(path), "reward\n0.5\n\n") << "of an older program, with fewer columns";
}

}  // namespace
}  // namespace emplace::experiment::run_folder_test
