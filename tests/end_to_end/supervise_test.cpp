// launch/supervise: after any kill or stop of a job, the run is completed with the same bits, and no process is left.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "tests/end_to_end/bits.hpp"
#include "tests/end_to_end/systems.hpp"
#include "tests/support/marked_processes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::supervise_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Stat {
  pid_t pid, parent, session;
  std::string name;
  bool is_alive;
};

std::vector<Stat> processes() {
  std::vector<Stat> list;
  std::error_code ended;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ended)) {
    std::ifstream file(entry.path() / "stat");
    std::string line;
    if (!std::getline(file, line) || line.rfind(')') == std::string::npos) continue;
    const std::size_t open = line.find('('), close = line.rfind(')');
    std::istringstream fields(line.substr(close + 1));
    std::string state;
    pid_t parent = 0, group = 0, session = 0;
    fields >> state >> parent >> group >> session;
    list.push_back({std::stoi(line), parent, session, line.substr(open + 1, close - open - 1), state != "Z"});
  }
  return list;
}

class Supervise : public ::testing::Test {
 protected:
  // Open MPI's session folders go into the test's folder.
  [[nodiscard]] std::vector<std::string> supervise(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"env", "TMPDIR=" + folder_.path(), std::string("EMPLACE=") + EMPLACE_PROGRAM,
                                         std::string(EMPLACE_SOURCE) + "/launch/supervise"});
    return arguments;
  }
  [[nodiscard]] std::vector<std::string> training(const std::string& ranks, const std::string& run,
                                                  const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"-np", ranks};
    arguments.insert(arguments.end(), more.begin(), more.end());
    for (const char* each : {"configs/recipes/quickstart.toml", "graph=zoo:nmt?layers=2&sequence=4&training=true",
                             "evaluations=1000000", "checkpoint_every=3", "compare=[]"})
      arguments.emplace_back(each);
    arguments.push_back("updates=" + updates_);
    arguments.push_back("run=" + run);
    return supervise(arguments);
  }
  // The mpirun that the supervisor runs now, 0 if there is none.
  static pid_t mpirun_of(const Process& supervisor) {
    for (const Stat& each : processes())
      if (each.parent == supervisor.pid() && each.name == "mpirun" && each.is_alive) return each.pid;
    return 0;
  }
  // The processes of that mpirun, by rank.
  static std::vector<pid_t> ranks_of(pid_t mpirun) {
    std::map<int, pid_t> by_rank;
    for (const Stat& each : processes()) {
      if (each.parent != mpirun || !each.is_alive) continue;
      std::ifstream environment("/proc/" + std::to_string(each.pid) + "/environ");
      const std::string name = "OMPI_COMM_WORLD_RANK=";
      for (std::string entry; std::getline(environment, entry, '\0');)
        if (entry.starts_with(name)) by_rank[std::stoi(entry.substr(name.size()))] = each.pid;
    }
    std::vector<pid_t> ranks;
    for (const auto& [rank, pid] : by_rank) ranks.push_back(pid);
    return ranks;
  }
  static std::vector<pid_t> alive_in(pid_t session) {
    std::vector<pid_t> left;
    for (const Stat& each : processes())
      if (each.session == session && each.is_alive) left.push_back(each.pid);
    return left;
  }
  // Waits for a job other than `before` that has written a checkpoint since it began, and returns its mpirun.
  pid_t wait_for_work(const Process& supervisor, pid_t before = 0) const {
    std::filesystem::file_time_type began{};
    pid_t mpirun = 0;
    for (int i = 0; i < 6000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
      if (mpirun == 0) {
        mpirun = mpirun_of(supervisor);
        if (mpirun == before) mpirun = 0;
        if (mpirun != 0) began = newest_checkpoint();
      } else if (newest_checkpoint() != began) {
        return mpirun;
      }
    }
    ADD_FAILURE() << "no job writes checkpoints";
    return 0;
  }
  [[nodiscard]] std::filesystem::file_time_type newest_checkpoint() const {
    std::error_code none;
    return std::filesystem::last_write_time(run_ + "/checkpoint.h5", none);
  }
  void expect_nothing_left(const std::set<std::string>& shared_memory) const {
    EXPECT_FALSE(shared_memory.empty());
    for (const std::string& file : shared_memory) EXPECT_FALSE(file_exists(file)) << file;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      EXPECT_FALSE(entry.path().filename().string().starts_with("pid.")) << entry.path();
  }
  void expect_undisturbed_bits() const {
    const std::string alone = folder_ / "alone";
    std::vector<std::string> arguments = training("1", alone);
    arguments.erase(arguments.begin(), arguments.begin() + 6);  // env, TMPDIR, EMPLACE, supervise, -np, 1
    arguments.insert(arguments.begin(), "train");
    ASSERT_EQ(emplace_run(arguments).exit_code, 0);
    EXPECT_EQ(without_clocks(run_), without_clocks(alone));
    EXPECT_EQ(metrics_without_clocks(run_), metrics_without_clocks(alone));
    EXPECT_EQ(best_placements(run_), best_placements(alone));
  }
  TemporaryFolder folder_;
  const std::string run_ = folder_ / "run";
  std::string updates_ = "800";
};

TEST_F(Supervise, EndsWithTheBitsOfAnUndisturbedRunWhenRanksAndMpirunAreKilled) {
  Process supervisor(training("3", run_));
  std::set<std::string> shared;
  pid_t mpirun = 0;
  for (const char* victim : {"worker", "master", "mpirun"}) {
    mpirun = wait_for_work(supervisor, mpirun);
    ASSERT_NE(mpirun, 0);
    const std::vector<pid_t> ranks = ranks_of(mpirun);
    ASSERT_EQ(ranks.size(), 3U);
    shared.merge(shared_memory_of(ranks));
    ::kill(victim == std::string("worker") ? ranks[2] : victim == std::string("master") ? ranks[0] : mpirun, SIGKILL);
  }
  const Finished done = supervisor.wait(std::chrono::seconds(100));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("(mpirun ended with 137); " + run_ + " goes on from update "));
  expect_nothing_left(shared);
  expect_undisturbed_bits();
}

TEST_F(Supervise, KillsAJobThatHangsAndGoesOn) {
  updates_ = "400";
  Process supervisor(training("3", run_, {"--hang", "8"}));
  const pid_t mpirun = wait_for_work(supervisor);
  const std::vector<pid_t> ranks = ranks_of(mpirun);
  const std::set<std::string> shared = shared_memory_of(ranks);
  for (const pid_t rank : ranks) ::kill(rank, SIGSTOP);
  const Finished done = supervisor.wait(std::chrono::seconds(100));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("the job wrote nothing for 8 s and was killed; " + run_ + " goes on from update "));
  expect_nothing_left(shared);
  expect_undisturbed_bits();
}

TEST_F(Supervise, EndsWith75OnRequestLeavesNothingAndGoesOnLaterWithOtherRanks) {
  for (const int request : {SIGTERM, SIGINT, SIGUSR1}) {
    Process supervisor(training(request == SIGTERM ? "3" : "2", run_));
    const pid_t mpirun = wait_for_work(supervisor);
    const std::set<std::string> shared = shared_memory_of(ranks_of(mpirun));
    supervisor.signal(request);
    const Finished done = supervisor.wait(std::chrono::seconds(60));
    ASSERT_EQ(done.exit_code, 75) << done.err;
    EXPECT_EQ(read_file(run_ + "/status"), "interrupted\n");
    EXPECT_THAT(alive_in(mpirun), ::testing::IsEmpty());
    expect_nothing_left(shared);
  }
  const Finished done = run(training("2", run_));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  expect_undisturbed_bits();
}

TEST_F(Supervise, TakesItsJobWithItWhenItIsKilled) {
  pid_t mpirun = 0;
  {
    updates_ = "100000";
    Process supervisor(training("3", run_));
    mpirun = wait_for_work(supervisor);
    ASSERT_NE(mpirun, 0);
    supervisor.signal(SIGKILL);
    (void)supervisor.wait(std::chrono::seconds(30));
  }
  for (int i = 0; i < 300 && !alive_in(mpirun).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::vector<pid_t> left = alive_in(mpirun);
  EXPECT_THAT(left, ::testing::IsEmpty());
  EXPECT_EQ(read_file(run_ + "/status"), "interrupted\n");
  for (const pid_t each : left) ::kill(each, SIGKILL);
}

TEST_F(Supervise, TrainsInAFolderWhoseNameBeginsWithADash) {
  std::vector<std::string> arguments =
      supervise({"-np", "2", std::string(EMPLACE_SOURCE) + "/configs/recipes/quickstart.toml",
                 "graph=zoo:nmt?layers=2&sequence=4&training=true", "updates=2", "compare=[]", "run=-x"});
  arguments.insert(arguments.begin() + 1, "--chdir=" + folder_.path());
  const Finished done = run(arguments);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, Not(HasSubstr("goes on from update")));
  EXPECT_EQ(read_file(folder_ / "-x/status"), "finished\n");
}

TEST_F(Supervise, EndsBadInputAtOnce) {
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{
           {"-np", "2", folder_ / "none.toml"},
           {"-np", "2", "configs/recipes/quickstart.toml", "run=" + run_, "no_such_key=1"},
           {"-np", "2", "--resume", run_},
           {"-np", "0", "configs/recipes/quickstart.toml"},
           {"--death", "3", "configs/recipes/quickstart.toml"},
           {"configs/recipes/quickstart.toml", "--time-limit", "soon"}}) {
    const Finished done = run(supervise(bad));
    EXPECT_EQ(done.exit_code, 2) << done.err;
    EXPECT_THAT(done.err, HasSubstr("error: "));
    EXPECT_THAT(done.err, Not(HasSubstr("goes on"))) << "no restart";
  }
}

TEST_F(Supervise, WatchesTheFolderInWhichTheTrainingWorksWhateverItsName) {
  updates_ = "4";
  for (const std::string name : {"a\"b", "a\\b", "a 'b'", "a\"b\\c d"}) {
    const std::string folder = folder_ / name;
    const Finished done = run(training("2", folder));
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(read_file(folder + "/status"), "finished\n") << name;
    EXPECT_THAT(done.err, Not(HasSubstr("goes on"))) << name;
  }
  const Finished quoted = run(training("2", "\"" + folder_ / "in \\\"quotes\\\"" + "\""));
  EXPECT_EQ(quoted.exit_code, 0) << quoted.err;
  EXPECT_EQ(read_file(folder_ / "in \"quotes\"/status"), "finished\n");
}

TEST_F(Supervise, GivesUpAfterDeathsWithoutANewerCheckpoint) {
  write_file(folder_ / "dies", "#!/bin/sh\nkill -9 $$\n");
  std::filesystem::permissions(folder_ / "dies", std::filesystem::perms::owner_all);
  std::vector<std::string> arguments = training("2", run_, {"--deaths", "2"});
  arguments[2] = "EMPLACE=" + (folder_ / "dies");
  const Finished done = run(arguments);
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.err, HasSubstr("goes on from update 0 in 1 s (death 1 of 2 without a newer checkpoint)"));
  EXPECT_THAT(done.err, HasSubstr("2 deaths without a newer checkpoint than update 0 of " + run_ + ": giving up"));
}

// mpirun ends the other ranks with a signal, after which rank 0 may still be able to write a checkpoint.
TEST_F(Supervise, GoesOnWhereRank0EndedInOrderBecauseAnotherDied) {
  updates_ = "6";
  const std::string program = folder_ / "ends-in-order";
  write_file(
      program,
      "#!/bin/sh\nonce=$0.$OMPI_COMM_WORLD_RANK\nif [ -z \"$OMPI_COMM_WORLD_RANK\" ] || [ -e \"$once\" ]; then exec " +
          std::string(EMPLACE_PROGRAM) +
          " \"$@\"; fi\n: >\"$once\"\nif [ $OMPI_COMM_WORLD_RANK = 0 ]; then\n  mkdir -p " + run_ +
          "\n  echo interrupted >" + run_ +
          "/status\n  : >$0.told\n  exec sleep 60\nfi\nuntil [ -e $0.told ]; do sleep 0.05; done\nkill -9 $$\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  std::vector<std::string> arguments = training("2", run_);
  arguments[2] = "EMPLACE=" + program;
  const Finished done = run(arguments);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("(mpirun ended with 137); " + run_ + " goes on from update 0 in 1 s"));
  EXPECT_EQ(read_file(run_ + "/status"), "finished\n");
}

TEST_F(Supervise, TriesATrainingThatDivergesOnceMoreOnly) {
  std::vector<std::string> arguments =
      systems()[2].training({"problem=" + small_training + "@k40x2", "grouping=chain", "groups=8", "learner=reinforce",
                             "reinforce.reward=time", "reinforce.penalty_cap=0", "reinforce.time_unit=1e-12",
                             "reinforce.optimizer=sgd", "reinforce.momentum=0", "reinforce.learning_rate=1000",
                             "reinforce.clip_norm=0", "updates=100", "run=" + run_, "checkpoint_every=1"});
  arguments.erase(arguments.begin());  // train
  const Finished done = run(supervise(arguments));
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_EQ(read_file(run_ + "/status"), "failed\n");
  EXPECT_THAT(done.err, HasSubstr("the run failed twice after update "));
  EXPECT_THAT(done.err, HasSubstr("goes on from update "));
  EXPECT_THAT(done.err, Not(HasSubstr("(death 1 of 5")));
}

TEST_F(Supervise, CountsATimeLimitOverAllRestarts) {
  updates_ = "100000";
  Process supervisor(training("2", run_, {"--time-limit", "12s"}));
  std::this_thread::sleep_for(std::chrono::seconds(8));
  const auto killed = std::chrono::steady_clock::now();
  const pid_t mpirun = mpirun_of(supervisor);
  ASSERT_NE(mpirun, 0);
  ::kill(mpirun, SIGKILL);
  const Finished stopped = supervisor.wait(std::chrono::seconds(60));
  EXPECT_EQ(stopped.exit_code, 75) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("(mpirun ended with 137); " + run_ + " goes on from update "));
  // 4 of the 12 s were left.
  EXPECT_LT(std::chrono::steady_clock::now() - killed, std::chrono::seconds(12)) << "the limit began anew";
}

}  // namespace
}  // namespace emplace::test::supervise_test
