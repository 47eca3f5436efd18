// Promises 1 and 2: the same bits for any number of ranks, and after a kill and a resume.
#include <gmock/gmock.h>
#include <sched.h>

#include <fstream>
#include <regex>
#include <thread>

#include "tests/end_to_end/bits.hpp"
#include "tests/end_to_end/systems.hpp"
#include "tests/support/marked_processes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::same_bits_test {
namespace {

using nlohmann::json;

// A training, and the number of updates.
struct Training {
  std::string name;
  std::vector<std::string> arguments;
};

// Three seconds of training on any processor: a tenth of a second per update of 20 placements.
const std::vector<std::string> slowly = {"evaluator=sleep", "sleep.seconds=0.005"};

void PrintTo(const Training& training, std::ostream* out) { *out << training.name; }

// 16 units, so that there is work for several workers; every system writes checkpoints during its training.
std::vector<Training> trainings() {
  std::vector<Training> list = {
      {"quickstart",
       {"train", "configs/recipes/quickstart.toml", "graph=zoo:nmt?layers=2&sequence=4&training=true",
        "evaluations=600", "checkpoint_every=3"}}};
  const std::vector<std::string> common = {"problem=zoo:nmt?layers=2&sequence=4&training=true@k40x2", "grouping=chain",
                                           "groups=16", "checkpoint_every=3", "updates=12"};
  std::vector<std::string> placeto;
  for (const System& system : systems()) {
    list.push_back({system.name, system.training(common)});
    if (list.back().name == "placeto") placeto = list.back().arguments;
  }
  // Only what an episode changes is simulated again: the incremental engine. Episodes and greedy ones depend on what
  // happened before.
  list.push_back({"placeto_in_order", placeto});
  for (const char* more : {"schedule=in-order", "greedy_every=2", "placeto.initial=best"})
    list.back().arguments.emplace_back(more);
  // GDP in rounds that use earlier rounds, on machines of any size, beginning with blocks, with the best placement so
  // far.
  const System go{"go", {"gdp.hidden=8", "gdp.heads=2", "gdp.feedforward=16", "gdp.device_head=features"}};
  list.push_back({"go", go.training(common)});
  for (const char* more : {"gdp.coarse_units=2", "gdp.coarse_share=0.8", "ppo.keep_best=true"})
    list.back().arguments.emplace_back(more);
  // One pass for all samples, the best so far among them.
  list.push_back(
      {"hsdag_tuned", System{"hsdag", {"hsdag.hidden=8", "ppo.samples_per_update=8"}, "ppo", ""}.training(common)});
  // Six chunks per update, the last of one sample, with the additions of the tuned recipes to the paper's networks and
  // baselines.
  const System tuned{"hierarchical",
                     {"hierarchical.hidden=8", "hierarchical.grouper_hidden=8", "hierarchical.groups=4",
                      "hierarchical.position_waves=3", "reinforce.chunk=3"},
                     "reinforce",
                     ""};
  list.push_back({"hierarchical_tuned_in_chunks", tuned.training(common)});
  // Polished samples and demonstrations: for elites, for policy gradients of samples with groups of their own, and with
  // orders.
  const std::vector<std::string> polish = {"polish.samples=2", "polish.moves=40", "polish.share=0.8",
                                           "demonstrations=true", "demonstrations_share=0.5"};
  list.push_back({"post_polished", System{"post", {"post.coarse_units=2"}, "post"}.training(common)});
  list.push_back({"hierarchical_polished", tuned.training(common)});
  list.back().arguments.emplace_back("reinforce.keep_best=true");
  list.push_back({"gdp_polished_in_order", go.training(common)});
  for (const char* more : {"ppo.keep_best=true", "gdp.schedule_levels=0", "schedule=in-order"})
    list.back().arguments.emplace_back(more);
  for (std::size_t i = list.size() - 3; i < list.size(); ++i)
    list[i].arguments.insert(list[i].arguments.end(), polish.begin(), polish.end());
  // Two of three problems per update, drawn again every two updates, with a held-out problem.
  list.push_back({"placeto_across_graphs",
                  systems()[3].training(
                      {"problems=[\"zoo:nmt?layers=2&sequence=4&training=true@k40x2\", "
                       "\"zoo:nmt?layers=2&sequence=3&training=true@k40x2\", \"zoo:inception-v3?batch=4@k40x2\"]",
                       "held_out=[\"zoo:nmt?layers=2&sequence=2&training=true@k40x2\"]", "held_out_every=4",
                       "problems_per_update=2", "hold_problems=2", "greedy_every=5", "grouping=chain", "groups=16",
                       "checkpoint_every=3", "updates=12"})});
  return list;
}

class SameBits : public ::testing::Test {
 protected:
  std::vector<std::string> train(const std::string& run, const std::vector<std::string>& more = {}) {
    return of(trainings().front(), run, more);
  }
  static std::vector<std::string> of(const Training& training, const std::string& run,
                                     const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = training.arguments;
    arguments.push_back("run=" + run);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  TemporaryFolder folder_;
};

class SameBitsOfEverySystem : public SameBits, public ::testing::WithParamInterface<Training> {};

INSTANTIATE_TEST_SUITE_P(Recipes, SameBitsOfEverySystem, ::testing::ValuesIn(trainings()),
                         [](const auto& training) { return training.param.name; });

TEST_P(SameBitsOfEverySystem, RewardsParametersAndBestPlacementDoNotDependOnTheNumberOfRanksOrOnWhatTheyDo) {
  const std::string alone = folder_ / "alone";
  const auto reference = emplace_run(of(GetParam(), alone, {"--json"}));
  ASSERT_EQ(reference.exit_code, 0) << reference.err;
  const auto wanted = without_clocks(alone);
  ASSERT_TRUE(wanted.contains("best/placement") || wanted.contains("best/placement.0"));
  ASSERT_TRUE(wanted.contains("history/mean_reward"));
  for (const int ranks : {1, 2, 3, 5, 8})
    for (const std::string workers : {"simulate", "simulate+learn"}) {
      const std::string run = folder_ / (workers + std::to_string(ranks));
      const auto done = emplace_run(ranks, of(GetParam(), run, {"--json", "workers=" + workers}));
      ASSERT_EQ(done.exit_code, 0) << done.err;
      EXPECT_EQ(without_clocks(run), wanted) << ranks << " ranks that " << workers;
      EXPECT_EQ(metrics_without_clocks(run), metrics_without_clocks(alone)) << ranks << " ranks that " << workers;
      EXPECT_EQ(best_placements(run), best_placements(alone));
    }
}

// The same command again and again, as a supervisor or a batch system runs it.
TEST_P(SameBitsOfEverySystem, TheSameCommandWithContinueBeginsARunAndGoesOnWithIt) {
  const std::string alone = folder_ / "alone", run = folder_ / "run";
  ASSERT_EQ(emplace_run(of(GetParam(), alone, {"updates=6", "evaluations=100000"})).exit_code, 0);
  // Schedules are those of all 6 updates from the beginning. Evaluations before the first update use a share too.
  using Budget = std::vector<std::string>;
  const Budget half = {"updates=3", "evaluations=50000", "budget_share=0.5"},
               whole = {"updates=6", "evaluations=100000", "budget_share=1"};
  for (Budget arguments : {half, whole, whole}) {
    arguments.emplace_back("--continue");
    const auto done = emplace_run(of(GetParam(), run, arguments));
    ASSERT_EQ(done.exit_code, 0) << done.err;
  }
  EXPECT_EQ(without_clocks(run), without_clocks(alone));
  EXPECT_EQ(metrics_without_clocks(run), metrics_without_clocks(alone));
  EXPECT_FALSE(file_exists(run + ".1"));
}

TEST_F(SameBits, AnUnfinishedRunOfAnotherRecipeIsNotContinued) {
  const std::string run = folder_ / "run";
  ASSERT_EQ(emplace_run(train(run)).exit_code, 0);
  write_file(run + "/status", "running\n");
  const auto refused = emplace_run(train(run, {"--continue", "seed=9"}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, ::testing::HasSubstr(run + ": holds an unfinished run of another configuration: 'seed' is"));
  // A finished one is kept too.
  write_file(run + "/status", "finished\n");
  const auto kept = emplace_run(train(run, {"--continue", "seed=9"}));
  EXPECT_EQ(kept.exit_code, 2);
  EXPECT_THAT(kept.err, ::testing::HasSubstr(run + ": holds a finished run of another configuration: 'seed' is"));
}

TEST_F(SameBits, OfANetworkDoNotDependOnTheNumberOfThreads) {
  std::vector<Training> gdp = trainings();
  std::erase_if(gdp, [](const Training& training) { return training.name != "gdp"; });
  ASSERT_EQ(gdp.size(), 1U);
  const std::vector<std::string> wide = {"problem=zoo:inception-v3?training=true@k40x2",
                                         "grouping=colocation",
                                         "groups=400",
                                         "gdp.hidden=64",
                                         "gdp.feedforward=128",
                                         "updates=2",
                                         "--json"};
  const auto train = [&](const std::string& run, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = wide;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = emplace_run(of(gdp.front(), run, arguments));
    EXPECT_EQ(done.exit_code, 0) << done.err;
  };
  train(folder_ / "one", {});
  train(folder_ / "three", {"threads=3"});
  EXPECT_EQ(without_clocks(folder_ / "three"), without_clocks(folder_ / "one"));
  EXPECT_EQ(metrics_without_clocks(folder_ / "three"), metrics_without_clocks(folder_ / "one"));

  // A resumed run may have other threads.
  train(folder_ / "both", {"updates=1"});
  const auto resumed = emplace_run({"train", "--resume", folder_ / "both", "updates=2", "threads=3", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(without_clocks(folder_ / "both"), without_clocks(folder_ / "one"));

  // The program warns if there are more threads than cores.
  cpu_set_t cores;
  ASSERT_EQ(sched_getaffinity(0, sizeof(cores), &cores), 0);
  int first = 0;
  while (!CPU_ISSET(first, &cores)) ++first;
  std::vector<std::string> bound = {"taskset", "-c", std::to_string(first), EMPLACE_PROGRAM};
  const auto arguments = of(gdp.front(), folder_ / "bound", {"updates=1", "threads=3"});
  bound.insert(bound.end(), arguments.begin(), arguments.end());
  const auto done = run(bound);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, ::testing::HasSubstr("3 threads share 1 core (mpirun binds ranks"));
}

TEST_P(SameBitsOfEverySystem, ARunKilledHalfWayAndResumedOnOtherRanksEndsAsAnUndisturbedOne) {
  const std::vector<std::string> longer = {"evaluations=20000", "updates=60"};
  const std::string undisturbed = folder_ / "undisturbed";
  ASSERT_EQ(emplace_run(of(GetParam(), undisturbed, longer)).exit_code, 0);
  const std::string run = folder_ / "killed";
  {
    Process process(command(of(GetParam(), run, longer)));
    // Killed as soon as a checkpoint exists: somewhere in the middle, at no chosen point.
    for (int i = 0; i < 30000 && !file_exists(run + "/checkpoint.h5"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait(std::chrono::seconds(30)).exit_code, 128 + SIGKILL) << "it was over before";
  }
  EXPECT_EQ(read_file(run + "/status"), "running\n");
  const auto resumed = emplace_run(3, {"train", "--resume", run, "workers=simulate+learn"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(experiment::load_newest_checkpoint(run).attributes.at("update"), "60");
  EXPECT_EQ(without_clocks(run), without_clocks(undisturbed));
  EXPECT_EQ(metrics_without_clocks(run), metrics_without_clocks(undisturbed));
  EXPECT_EQ(best_placements(run), best_placements(undisturbed));
}

TEST_F(SameBits, AJobKilledInAllRanksAndResumedEndsAsAnUndisturbedOne) {
  const std::string undisturbed = folder_ / "undisturbed";
  ASSERT_EQ(emplace_run(train(undisturbed)).exit_code, 0);
  const std::string run = folder_ / "killed", mark = "EMPLACE_TEST=" + run;
  {
    const Process process(marked_job(3, train(run, slowly), mark, folder_.path()));
    EXPECT_TRUE(comes_true([&] { return file_exists(run + "/checkpoint.h5"); }));
    EXPECT_TRUE(kill_all_with(mark));
  }
  EXPECT_EQ(read_file(run + "/status"), "running\n");
  const auto resumed = emplace_run(2, {"train", "--resume", run});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(without_clocks(run), without_clocks(undisturbed));
  EXPECT_EQ(metrics_without_clocks(run), metrics_without_clocks(undisturbed));
}

TEST_F(SameBits, AnInterruptedRunCheckpointsEndsWith75AndResumes) {
  const std::string undisturbed = folder_ / "undisturbed";
  ASSERT_EQ(emplace_run(train(undisturbed)).exit_code, 0);
  const std::string run = folder_ / "interrupted";
  Process process(under_mpirun(2, command(train(run, slowly))));
  EXPECT_TRUE(comes_true([&] { return file_exists(run + "/metrics.csv"); }));
  process.signal(SIGUSR1);
  const auto stopped = process.wait(std::chrono::seconds(60));
  EXPECT_EQ(stopped.exit_code, 75) << stopped.err;
  EXPECT_EQ(read_file(run + "/status"), "interrupted\n");
  EXPECT_TRUE(file_exists(run + "/checkpoint.h5"));
  const auto resumed = emplace_run(train(run, {"--resume", run}));
  EXPECT_EQ(resumed.exit_code, 2) << "a recipe and --resume together are refused";
  ASSERT_EQ(emplace_run({"train", "--resume", run}).exit_code, 0);
  EXPECT_EQ(without_clocks(run), without_clocks(undisturbed));
}

TEST_F(SameBits, ARunEndsWith75BeforeItsTimeLimitAndResumes) {
  const std::string run = folder_ / "limited";
  const auto stopped = emplace_run(train(run, {"evaluations=100000000", "--time-limit", "1s"}));
  EXPECT_EQ(stopped.exit_code, 75) << stopped.err;
  EXPECT_THAT(stopped.err, ::testing::HasSubstr("--resume " + run));
  EXPECT_EQ(read_file(run + "/status"), "interrupted\n");
  const std::string more =
      std::to_string(1 + std::stoull(experiment::load_newest_checkpoint(run).attributes.at("update")));
  ASSERT_EQ(emplace_run({"train", "--resume", run, "updates=" + more, "--time-limit", "2h"}).exit_code, 0);
  EXPECT_EQ(experiment::load_newest_checkpoint(run).attributes.at("update"), more);
  for (const char* text : {"1x", "0s", "30m3h", "-5s", ""}) {
    const auto refused = emplace_run(train(run, {"--time-limit", text}));
    EXPECT_EQ(refused.exit_code, 2) << text;
    EXPECT_THAT(refused.err, ::testing::HasSubstr("--time-limit")) << text;
  }
}

TEST_F(SameBits, ResumingAFinishedRunEndsAtOnceAndALargerBudgetGoesOn) {
  const std::string once = folder_ / "once";
  ASSERT_EQ(emplace_run(train(once)).exit_code, 0);
  const std::string half = folder_ / "half";
  ASSERT_EQ(emplace_run(train(half, {"evaluations=300", "budget_share=0.5"})).exit_code, 0);
  ASSERT_EQ(emplace_run({"train", "--resume", half}).exit_code, 0);
  EXPECT_EQ(experiment::load_newest_checkpoint(half).attributes.at("update"), "15")
      << "300 evaluations of 20 an update";
  ASSERT_EQ(emplace_run({"train", "--resume", half, "evaluations=600", "budget_share=1"}).exit_code, 0);
  EXPECT_EQ(without_clocks(half), without_clocks(once));
  const auto refused = emplace_run({"train", "--resume", half, "seed=4"});
  EXPECT_EQ(refused.exit_code, 2);
}

TEST_F(SameBits, ABudgetThatARunIsResumedWithIsItsOwnFromThenOn) {
  const std::string once = folder_ / "once", run = folder_ / "run";
  ASSERT_EQ(emplace_run(train(once)).exit_code, 0);
  ASSERT_EQ(emplace_run(train(run, {"evaluations=300", "budget_share=0.5"})).exit_code, 0);
  // Fails before it is done, because there is a folder with the name of a file that it has to write.
  const std::string best = run + "/best.placement.json";
  std::filesystem::remove(best);
  std::filesystem::create_directories(best + "/in the way");
  EXPECT_EQ(emplace_run({"train", "--resume", run, "evaluations=600", "budget_share=1"}).exit_code, 1);
  std::filesystem::remove_all(best);
  ASSERT_EQ(emplace_run({"train", "--resume", run}).exit_code, 0);
  EXPECT_EQ(without_clocks(run), without_clocks(once));
  EXPECT_EQ(read_file(run + "/config.toml"),
            std::regex_replace(read_file(once + "/config.toml"), std::regex(once), run));
  // The same if the run is started again from the recipe.
  ASSERT_EQ(emplace_run(train(run, {"evaluations=640", "--continue"})).exit_code, 0);
  const std::string config = read_file(run + "/config.toml");
  EXPECT_THAT(config, ::testing::HasSubstr("evaluations = 640"));
  ASSERT_EQ(emplace_run({"train", "--resume", run}).exit_code, 0);
  EXPECT_EQ(experiment::load_newest_checkpoint(run).attributes.at("update"), "32") << "640 evaluations of 20 an update";
  EXPECT_EQ(read_file(run + "/config.toml"), config);
}

TEST_F(SameBits, ADamagedNewestCheckpointFallsBackToThePreviousOne) {
  const std::string once = folder_ / "once";
  ASSERT_EQ(emplace_run(train(once)).exit_code, 0);
  const std::string run = folder_ / "damaged";
  ASSERT_EQ(emplace_run(train(run)).exit_code, 0);
  std::filesystem::resize_file(run + "/checkpoint.h5", 1000);
  const auto resumed = emplace_run({"train", "--resume", run});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, ::testing::HasSubstr("checkpoint.h5"));
  EXPECT_EQ(without_clocks(run), without_clocks(once));
}

TEST_F(SameBits, ASecondRunInTheSameFolderIsRefusedAndChangesNothing) {
  const std::string run = folder_ / "run";
  ASSERT_EQ(emplace_run(train(run)).exit_code, 0);
  const std::string first = read_file(run + "/metrics.csv");
  const auto second = emplace_run(train(run, {"seed=9"}));
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, ::testing::AllOf(::testing::HasSubstr(run), ::testing::HasSubstr("--continue")));
  EXPECT_EQ(read_file(run + "/metrics.csv"), first);
  EXPECT_FALSE(std::filesystem::exists(run + ".1"));
}

}  // namespace
}  // namespace emplace::test::same_bits_test
