// launch/*: their messages, and the arguments that they pass to mpirun, sbatch and qsub.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/marked_processes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::launchers_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Launchers : public ::testing::Test {
 protected:
  // A program of this name that writes its arguments and its standard input into folder/NAME.
  void fake(const std::string& name) const {
    const std::string path = bin_ + "/" + name;
    write_file(path, "#!/bin/bash\n{ printf '[%s]' \"$@\"; echo; cat; } >'" + (folder_ / name) + "'\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  Finished launch(const std::string& name, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"env", "PATH=" + bin_ + ":" + std::getenv("PATH"),
                                         std::string("EMPLACE=") + EMPLACE_PROGRAM, launchers_ + name});
    return run(arguments);
  }
  void SetUp() override { make_folder(bin_); }
  TemporaryFolder folder_;
  const std::string bin_ = folder_ / "bin", launchers_ = std::string(EMPLACE_SOURCE) + "/launch/";
  const std::string program_ = EMPLACE_PROGRAM;
};

TEST_F(Launchers, SayHowTheyAreUsed) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(launchers_)) {
    const auto mode = entry.status().permissions();
    if (!entry.is_regular_file() || (mode & std::filesystem::perms::owner_exec) == std::filesystem::perms::none)
      continue;
    const std::string name = entry.path().filename();
    const std::string usage = "Usage: launch/" + name + " ";
    const Finished help = launch(name, {"--help"}), none = launch(name, {});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.out, HasSubstr(usage));
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_EQ(none.err, help.out);
    ++count;
  }
  EXPECT_GE(count, 5U);
}

// And do nothing else, whatever follows.
TEST(Scripts, SayHowTheyAreUsed) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(EMPLACE_SOURCE) + "/scripts")) {
    if (!entry.is_regular_file()) continue;
    const std::string usage = "Usage: scripts/" + entry.path().filename().string(), text = read_file(entry.path());
    if (!text.starts_with("#!/usr/bin/env bash") || text.find(usage) == std::string::npos) continue;
    const Finished help = run({entry.path(), "--help"});
    EXPECT_EQ(help.exit_code, 0) << usage;
    EXPECT_THAT(help.out, HasSubstr(usage));
    EXPECT_EQ(help.err, "") << usage;
    ++count;
  }
  EXPECT_GE(count, 20U);
}

TEST_F(Launchers, HandExportWhatSaysHowTheGraphWasMade) {
  fake("emplace");
  fake("emplace-measure-onnx");
  make_folder(folder_ / "models");
  write_file(folder_ / "models/m.onnx", "");
  const auto measured = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"env", "EMPLACE=" + bin_ + "/emplace", launchers_ + "measure-onnx", folder_ / "models/m.onnx"});
    const Finished done = run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
  };
  measured({"--fuse", "--batch", "8", "--", "--runs", "3"});
  EXPECT_THAT(read_file(folder_ / "emplace"), AllOf(HasSubstr("[export]"), HasSubstr("[--fuse][--batch][8][-o]")));
  EXPECT_THAT(read_file(folder_ / "emplace-measure-onnx"), HasSubstr(".segments.json][--runs][3]"));
  measured({"--runs", "5"});
  EXPECT_THAT(read_file(folder_ / "emplace"), ::testing::Not(HasSubstr("[--fuse]")));
  EXPECT_THAT(read_file(folder_ / "emplace-measure-onnx"), HasSubstr(".segments.json][--runs][5]"));
}

TEST_F(Launchers, RefuseWhatTheyDoNotKnow) {
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"local", "-np", "many", "train"},
                                             {"ssh", folder_ / "none", "train"},
                                             {"slurm", "place", "--", "heft"},
                                             {"slurm", "train", "configs/recipes/quickstart.toml"},
                                             {"slurm", "array", "x", "--", "space.toml"},
                                             {"pbs", "train"}}) {
    const Finished done = launch(bad.front(), {bad.begin() + 1, bad.end()});
    EXPECT_EQ(done.exit_code, 2) << bad.front();
    EXPECT_THAT(done.err, ::testing::StartsWith("error: "));
  }
}

TEST_F(Launchers, SshRunsOneRankASlot) {
  fake("mpirun");
  write_file(folder_ / "hosts", "# two machines\nnode1 slots=8\nnode2\n\nnode3 slots=3 max_slots=4\n");
  const Finished done = launch("ssh", {folder_ / "hosts", "train", "recipe.toml", "run=a b"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(read_file(folder_ / "mpirun"), "[-np][12][" + program_ + "][train][recipe.toml][run=a b]\n");
}

// mpirun alone answers Ctrl-C and SIGTERM by killing the ranks after a second or two.
TEST_F(Launchers, LocalWritesACheckpointHoweverLongTheUpdateTakesThatIsStopped) {
  for (const int request : {SIGINT, SIGTERM}) {
    const std::string run = folder_ / ("run" + std::to_string(request));
    // 2 workers and 1000 placements of 10 ms: 5 s an update.
    Process process({"env", "TMPDIR=" + folder_.path(), "EMPLACE=" + program_, launchers_ + "local", "-np", "3",
                     "train", "configs/recipes/post-published.toml", "problem=" + small_training + "@k40x2",
                     "evaluator=sleep", "sleep.seconds=0.01", "post.samples_per_update=1000", "post.window=1000",
                     "evaluations=1000000", "compare=[]", "run=" + run});
    ASSERT_TRUE(comes_true([&] { return file_exists(run + "/status"); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    process.signal_group(request);  // as a terminal does
    const Finished done = process.wait(std::chrono::seconds(60));
    EXPECT_EQ(done.exit_code, 75) << done.err;
    EXPECT_EQ(read_file(run + "/status"), "interrupted\n");
    EXPECT_TRUE(file_exists(run + "/checkpoint.h5"));
  }
}

TEST_F(Launchers, LocalIsKilledByASecondInterruptAndLeavesNothing) {
  const std::string run = folder_ / "run", mark = "EMPLACE_TEST=" + run;
  Process process({"env", mark, "TMPDIR=" + folder_.path(), "EMPLACE=" + program_, launchers_ + "local", "-np", "3",
                   "train", "configs/recipes/post-published.toml", "problem=" + small_training + "@k40x2",
                   "evaluator=sleep", "sleep.seconds=10", "evaluations=1000000", "compare=[]", "run=" + run});
  // The job cannot end in order while a worker does not answer.
  ASSERT_TRUE(comes_true([&] {
    return file_exists(run + "/log.txt") &&
           read_file(run + "/log.txt").find("training ends after") != std::string::npos;
  }));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const std::vector<int> worker = processes_with("OMPI_COMM_WORLD_RANK=2");
  for (const int pid : processes_with(mark))
    if (std::ranges::find(worker, pid) != worker.end()) ::kill(pid, SIGSTOP);
  process.signal_group(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  process.signal_group(SIGINT);
  const Finished done = process.wait(std::chrono::seconds(30));
  EXPECT_FALSE(done.timed_out);
  EXPECT_EQ(done.exit_code, 128 + SIGINT) << done.err;
  EXPECT_TRUE(none_left_with(mark));
}

TEST_F(Launchers, LocalRemovesTheSharedMemoryOfAJobWhoseMpirunIsKilled) {
  const std::string run = folder_ / "run", mark = "EMPLACE_TEST=" + run;
  Process process({"env", mark, "TMPDIR=" + folder_.path(), "EMPLACE=" + program_, launchers_ + "local", "-np", "3",
                   "train", "configs/recipes/quickstart.toml", "graph=" + small_training, "evaluations=100000000",
                   "compare=[]", "run=" + run});
  ASSERT_TRUE(comes_true([&] { return file_exists(run + "/checkpoint.h5"); }));
  const std::set<std::string> shared = shared_memory_of(processes_with(mark));
  pid_t mpirun = 0;
  for (const int pid : processes_with(mark)) {
    std::ifstream name("/proc/" + std::to_string(pid) + "/comm");
    if (std::string text; std::getline(name, text) && text == "mpirun") mpirun = pid;
  }
  ASSERT_NE(mpirun, 0);
  EXPECT_FALSE(shared.empty());
  ::kill(mpirun, SIGKILL);
  EXPECT_EQ(process.wait(std::chrono::seconds(60)).exit_code, 128 + SIGKILL);
  for (const std::string& file : shared) EXPECT_FALSE(file_exists(file)) << file;
  EXPECT_TRUE(none_left_with(mark));
}

TEST_F(Launchers, LocalRefusesMoreRanksThanItsOpenFilesAllow) {
  const auto limited = [&](const std::string& limit) {
    return run({"env", "EMPLACE=" + program_, "bash", "-c",
                "ulimit " + limit + " 32; exec " + launchers_ + "local -np 3 list placers"},
               std::chrono::seconds(30));
  };
  const Finished hard = limited("-n");
  EXPECT_EQ(hard.exit_code, 2) << hard.err;
  EXPECT_THAT(hard.err, AllOf(HasSubstr("3 ranks need 56 open files"), HasSubstr("32 (ulimit -Hn)")));
  const Finished soft = limited("-Sn");
  EXPECT_EQ(soft.exit_code, 0) << "its own limit is raised: " << soft.err;
}

TEST_F(Launchers, SlurmSubmitsAJobThatComesBack) {
  fake("sbatch");
  EXPECT_EQ(launch("slurm", {"train", "--ntasks=64", "--time=4:00:00", "--", "recipe.toml", "run=a b"}).exit_code, 0);
  EXPECT_THAT(read_file(folder_ / "sbatch"),
              AllOf(HasSubstr("[--requeue][--open-mode=append][--signal=B:USR1@120]"),
                    HasSubstr("[--ntasks=64][--time=4:00:00][--wrap][exec env EMPLACE=" + program_ + " " + launchers_ +
                              "slurm job train recipe.toml run=a\\ b]")));
  EXPECT_EQ(launch("slurm", {"array", "20", "--ntasks=4", "--", "space.toml"}).exit_code, 0);
  EXPECT_THAT(read_file(folder_ / "sbatch"), AllOf(HasSubstr("[--array=0-19]"), HasSubstr(" job trial space.toml]")));
}

// The job itself, in a folder with fakes of a cluster's programs.
TEST_F(Launchers, SlurmsJobTrainsWithinItsTimeAndGoesBackIntoTheQueue) {
  fake("scontrol");
  write_file(bin_ + "/squeue", "#!/bin/sh\necho 1:04\n");
  std::filesystem::permissions(bin_ + "/squeue", std::filesystem::perms::owner_all);
  ::setenv("SLURM_JOB_ID", "17", 1);
  ::setenv("SLURM_NTASKS", "2", 1);
  const std::vector<std::string> job = {"job",
                                        "train",
                                        "configs/recipes/quickstart.toml",
                                        "graph=" + small_training,
                                        "compare=[]",
                                        "run=" + (folder_ / "run")};
  std::vector<std::string> longer = job;
  longer.insert(longer.end(), {"evaluations=100000000", "--time-limit=1s"});
  const Finished limited = launch("slurm", longer);
  EXPECT_EQ(limited.exit_code, 75) << limited.err;
  EXPECT_EQ(read_file(folder_ / "scontrol"), "[requeue][17]\n");
  std::vector<std::string> shorter = job;
  shorter.emplace_back("evaluations=1");
  const Finished refused = launch("slurm", shorter);
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  ::unsetenv("SLURM_JOB_ID");
  ::unsetenv("SLURM_NTASKS");
}

TEST_F(Launchers, PbsSubmitsAScriptThatCallsItAgain) {
  fake("qsub");
  const Finished done =
      launch("pbs", {"train", "-l", "select=2:ncpus=8", "-l", "walltime=4:00:00", "--", "recipe.toml", "run=a b"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(read_file(folder_ / "qsub"),
            "[-r][y][-j][oe][-N][emplace][-l][select=2:ncpus=8][-l][walltime=4:00:00]\n#!/bin/bash\n"
            "cd \"$PBS_O_WORKDIR\" && exec env EMPLACE=" +
                program_ + " " + launchers_ +
                "pbs job train -l select=2:ncpus=8 -l walltime=4:00:00 -- recipe.toml run=a\\ b\n");
}

// The script that PBS runs: without a walltime in its options, its only limit is the argument.
TEST_F(Launchers, PbsJobSubmitsItselfAgainWhereItsTimeIsOver) {
  fake("qsub");
  write_file(folder_ / "nodes", "localhost\nlocalhost\n");
  ::setenv("PBS_NODEFILE", (folder_ / "nodes").c_str(), 1);
  const Finished done =
      launch("pbs", {"job", "train", "-l", "walltime=0:00:04", "--", "configs/recipes/quickstart.toml",
                     "graph=" + small_training, "evaluations=100000000", "run=" + (folder_ / "run")});
  ::unsetenv("PBS_NODEFILE");
  EXPECT_EQ(done.exit_code, 75) << done.err;
  EXPECT_THAT(read_file(folder_ / "qsub"), HasSubstr("pbs job train -l walltime=0:00:04 -- configs/recipes/"));
}

}  // namespace
}  // namespace emplace::test::launchers_test
