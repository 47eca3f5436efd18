#include "experiment/run/run_folder.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
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

}  // namespace
}  // namespace emplace::experiment::run_folder_test
