// A sweep of real trainings in one process: does what a coordinator does with SweepRun, and checks that a training that
// continues from rung to rung gives the same result as one without interruptions.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "experiment/run/checkpoint.hpp"
#include "experiment/sweep/sweep_run.hpp"
#include "experiment/sweep/trial.hpp"
#include "tests/experiment/sweep/sweeps.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::trained_rungs_test {
namespace {

TrialResult train_work(const Sweep& sweep, const SweepRun& run, Work work, const std::string& folder) {
  const TrialAnswer answer =
      train_trial(task_of(sweep, run.strategy(), work, fmt::format("{}/{}", folder, work.trial)), nullptr, {});
  EXPECT_FALSE(answer.interrupted);
  EXPECT_EQ(answer.work, work);
  EXPECT_EQ(answer.result.error, "");
  return answer.result;
}

TEST(TrainedRungs, ComeToWhatWholeTrainingsComeTo) {
  const test::TemporaryFolder folder;
  const std::string text =
      "problems = [\"zoo:nmt?layers=2&sequence=4&training=true@k40x2\", "
      "\"zoo:nmt?layers=2&sequence=3&training=true@k40x2\"]\n"
      "policy = \"post\"\nlearner = \"ppo\"\ngrouping = \"chain\"\ngroups = 16\nupdates = 8\nseeds = 2\ntrials = 4\n"
      "[space]\nppo.learning_rate = { log_uniform = [0.01, 1] }\n";
  const Sweep halving = test::sweep_of("strategy = \"halving\"\n" + text + "[halving]\nreduction = 2\n");
  std::map<std::size_t, Work> last;
  {
    SweepRun run(halving, folder / "record.jsonl");
    while (const auto work = run.next()) {
      run.end(*work, train_work(halving, run, *work, folder.path()));
      last[work->trial] = *work;
    }
    EXPECT_TRUE(run.finished());
  }
  // The same again, with each trial trained to its last rung at once.
  const SweepRun run(halving, folder / "record.jsonl");
  const auto rows = run.rows();
  std::set<TrialStatus> statuses;
  for (const auto& [trial, work] : last) {
    const TrialResult whole = train_work(halving, run, work, folder / "whole");
    EXPECT_EQ(rows[trial].objective, whole.objective) << trial;
    EXPECT_EQ(rows[trial].evaluations, whole.evaluations) << trial;
    statuses.insert(rows[trial].status);
  }
  // 2 updates on the first rung, 4 on the second, all 8 on the third, which one of four trials reaches.
  EXPECT_EQ(std::ranges::count(rows, 1, &TrialRow::share), 1);
  EXPECT_THAT(statuses, ::testing::ElementsAre(TrialStatus::finished, TrialStatus::stopped));
}

// The policy's parameters after a trial of one training.
State trained_parameters(const std::string& recipe, const std::string& run) {
  const TrialTask task{{}, {recipe + "run = \"" + run + "\"\n"}, {}};
  EXPECT_EQ(train_trial(task, nullptr, {}).result.error, "");
  State parameters;
  for (auto& [name, array] : load_newest_checkpoint(run).arrays)
    if (name.starts_with("policy/")) parameters[name] = array;
  return parameters;
}

TEST(Trials, ThatWereKilledBeforeTheirFirstCheckpointBeginWithTheParametersThatTheyAreGiven) {
  const test::TemporaryFolder folder;
  const std::string recipe =
      "problem = \"zoo:nmt?layers=2&sequence=4&training=true@k40x2\"\nlearner = \"ppo\"\nupdates = 2\n";
  (void)trained_parameters(recipe, folder / "first");
  const std::string next = recipe + "init = \"" + (folder / "first") + "\"\n";
  const auto whole = trained_parameters(next, folder / "whole");
  (void)trained_parameters(next, folder / "killed");
  for (const char* name : {"killed/checkpoint.h5", "killed/checkpoint.previous.h5"})
    std::filesystem::remove(folder / name);
  write_file(folder / "killed/status", "running\n");
  EXPECT_EQ(trained_parameters(next, folder / "killed"), whole);
}

}  // namespace
}  // namespace emplace::experiment::trained_rungs_test
