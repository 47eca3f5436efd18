// `emplace sweep` from the command line: the same table for any number of ranks, no trial lost or run twice.
#include <gmock/gmock.h>

#include <deque>
#include <filesystem>
#include <map>
#include <sstream>
#include <thread>

#include "base/files.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/marked_processes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::sweep_test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// sweep.csv by column, without the clock.
std::map<std::string, std::vector<std::string>> columns_of(const std::string& folder) {
  std::map<std::string, std::vector<std::string>> columns;
  std::vector<std::string> names;
  std::istringstream text(read_file(folder + "/sweep.csv"));
  for (std::string line; std::getline(text, line);) {
    const std::vector<std::string> cells = split(line, ',');
    if (names.empty()) {
      names = cells;
      continue;
    }
    for (std::size_t i = 0; i < names.size(); ++i) columns[names[i]].push_back(i < cells.size() ? cells[i] : "");
  }
  EXPECT_TRUE(columns.contains("wall_seconds"));
  columns.erase("wall_seconds");
  return columns;
}

std::size_t lines_with(const std::string& file, const std::string& text) {
  std::istringstream lines(read_file(file));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) count += line.find(text) != std::string::npos ? 1 : 0;
  return count;
}

class Sweep : public ::testing::Test {
 protected:
  // Trainings of a tenth of a second.
  std::string space(const std::string& strategy) const {
    const std::string file = folder_ / "space.toml";
    write_file(file, strategy + "problem = \"" + small_training +
                         "@k40x2\"\n"
                         "policy = \"post\"\nlearner = \"ppo\"\ngrouping = \"chain\"\ngroups = 16\nupdates = 24\n"
                         "checkpoint_every = 2\n"
                         "[space]\nppo.learning_rate = { log_uniform = [0.001, 3] }\nppo.epochs = [1, 4]\n");
    return file;
  }
  TemporaryFolder folder_;
};

TEST_F(Sweep, HasTheSameTableForAnyNumberOfRanksAndOfRanksATrial) {
  for (const std::string strategy : {"strategy = \"random\"\ntrials = 5\nseeds = [3, 1]\n",
                                     "strategy = \"hyperband\"\nhyperband.reduction = 2\nhyperband.rungs = 3\n",
                                     "strategy = \"tpe\"\ntrials = 8\ntpe.startup = 2\ntpe.batch = 3\n"}) {
    const std::string file = space(strategy);
    const TemporaryFolder folder;  // each strategy has its own runs
    const std::string alone = folder / "alone";
    const auto done = emplace_run({"sweep", file, "run=" + alone});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out,
                AllOf(HasSubstr("best      "), HasSubstr("0 failed, 0 running, 0 remaining"), HasSubstr(alone)));
    const auto wanted = columns_of(alone);
    ASSERT_GE(wanted.at("trial").size(), 5U);
    EXPECT_THAT(wanted.at("status"), Each(::testing::AnyOf("finished", "stopped")));
    EXPECT_EQ(read_file(alone + "/status"), "finished\n");
    for (const auto& [ranks, each] : {std::pair(2, 1), std::pair(4, 1), std::pair(7, 2)}) {
      const std::string run = folder / "ranks" + std::to_string(ranks);
      const auto shared = emplace_run(
          ranks, {"sweep", file, "run=" + run, "ranks_per_trial=" + std::to_string(each), "workers=simulate+learn"});
      ASSERT_EQ(shared.exit_code, 0) << shared.err;
      EXPECT_EQ(columns_of(run), wanted) << strategy << ranks;
    }
  }
}

TEST_F(Sweep, RecordsATrialThatFailsAndGoesOn) {
  const std::string file = space("trials = 6\nstrategy = \"grid\"\n");
  // A group_share below 1 is not allowed with this grouping, which is found only when the problem is grouped.
  for (const int ranks : {1, 4}) {
    const std::string run = folder_ / "run" + std::to_string(ranks);
    const auto done = emplace_run(
        ranks, {"sweep", file, "run=" + run, "ranks_per_trial=" + std::string(ranks == 1 ? "1" : "3"),
                "space.ppo.learning_rate=[0.01, 0.1]", "space.group_share=[1, 0.5]", "space.ppo.epochs=[2]"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const auto columns = columns_of(run);
    EXPECT_EQ(columns.at("status"), (std::vector<std::string>{"finished", "failed", "finished", "failed"}));
    EXPECT_THAT(columns.at("error")[1], HasSubstr("colocrl"));
    EXPECT_EQ(columns.at("objective")[1], "");
    EXPECT_NE(columns.at("objective")[2], "");
  }
}

TEST_F(Sweep, KilledAgainAndAgainTrainsEveryTrialOnceAndComesToTheSameTable) {
  const std::string file = space("strategy = \"random\"\ntrials = 30\n");
  const std::string undisturbed = folder_ / "undisturbed";
  ASSERT_EQ(emplace_run({"sweep", file, "run=" + undisturbed, "updates=12"}).exit_code, 0);
  const std::string run = folder_ / "killed", mark = "EMPLACE_TEST=" + run;
  const auto ended = [&] {
    const std::string record = run + "/record.jsonl";
    return file_exists(record) ? lines_with(record, "\"end\"") : 0;
  };
  // A trial sleeps for 12 updates of 16 placements of 1 ms: a fifth of a second.
  std::vector<std::string> arguments = {
      "sweep", file, "run=" + run, "updates=12", "evaluator=sleep", "sleep.seconds=1e-3"};
  for (const int ranks : {3, 4, 3}) {
    const std::size_t before = ended();
    const Process process(marked_job(ranks, arguments, mark, folder_.path()));
    EXPECT_TRUE(comes_true([&] { return ended() >= before + 4; }));
    EXPECT_TRUE(kill_all_with(mark));
    arguments = {"sweep", "--resume", run};
  }
  EXPECT_LT(ended(), 30U) << "it was over before the last kill";
  const auto done = emplace_run(4, arguments);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(columns_of(run), columns_of(undisturbed));
  EXPECT_EQ(lines_with(run + "/record.jsonl", "\"begin\""), 30U);
  EXPECT_EQ(lines_with(run + "/record.jsonl", "\"end\""), 30U);
  const auto again = emplace_run({"sweep", "--resume", run});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(lines_with(run + "/record.jsonl", "\"end\""), 30U) << "a finished sweep ends at once";
}

TEST_F(Sweep, ToldToStopItCheckpointsItsTrialsEndsWith75AndGoesOnFromThere) {
  const std::string file = space("strategy = \"random\"\ntrials = 3\n");
  const std::string undisturbed = folder_ / "undisturbed";
  ASSERT_EQ(emplace_run({"sweep", file, "run=" + undisturbed}).exit_code, 0);
  for (const int ranks : {1, 3}) {
    const std::string run = folder_ / "stopped" + std::to_string(ranks);
    // A trial sleeps for 24 updates of 16 placements of 2.5 ms: a second, of which 0.9 s after its first checkpoint.
    Process process(
        under_mpirun(ranks, command({"sweep", file, "run=" + run, "evaluator=sleep", "sleep.seconds=2.5e-3"})));
    EXPECT_TRUE(comes_true([&] { return file_exists(run + "/trials/0000/checkpoint.h5"); }));
    process.signal(SIGUSR1);
    const auto stopped = process.wait(std::chrono::seconds(60));
    ASSERT_EQ(stopped.exit_code, 75) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("emplace sweep --resume " + run));
    EXPECT_EQ(read_file(run + "/status"), "interrupted\n");
    EXPECT_EQ(read_file(run + "/trials/0000/status"), "interrupted\n");
    const auto done = emplace_run({"sweep", "--resume", run});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(columns_of(run), columns_of(undisturbed));
  }
}

// GDP fixes the kinds of devices when it begins. In a sweep's config.toml they are an empty list, as all defaults are
// written out there.
TEST_F(Sweep, OfGdpWithHyperbandThatIsKilledLosesNoTrial) {
  const std::string file = folder_ / "gdp.toml";
  write_file(file, "recipe = \"" + std::string(EMPLACE_SOURCE) + "/configs/recipes/gdp.toml\"\nproblem = \"" +
                       small_training +
                       "@k40x2\"\ngroups = 8\nevaluations = 192\ncheckpoint_every = 1\nstrategy = \"hyperband\"\n"
                       "[hyperband]\nreduction = 2\nrungs = 3\n[gdp]\nhidden = 8\nheads = 2\nfeedforward = 16\n"
                       "[ppo]\nsamples_per_update = 16\nepochs = 1\n"
                       "[space]\nppo.learning_rate = { log_uniform = [0.0001, 0.01] }\n");
  const std::string undisturbed = folder_ / "undisturbed", run = folder_ / "killed", mark = "EMPLACE_TEST=" + run;
  const auto whole = emplace_run({"sweep", file, "run=" + undisturbed});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const auto checkpoints = [&] {
    std::size_t count = 0;
    std::error_code none;
    for (const auto& each : std::filesystem::recursive_directory_iterator(run, none))
      count += each.path().filename() == "checkpoint.h5" ? 1 : 0;
    return count;
  };
  std::vector<std::string> arguments = {"sweep", file, "run=" + run, "evaluator=sleep", "sleep.seconds=5e-3"};
  for (std::size_t kills = 1; kills <= 2; ++kills) {
    const Process process(marked_job(3, arguments, mark, folder_.path()));
    EXPECT_TRUE(comes_true([&] { return checkpoints() >= 2 * kills; }));
    EXPECT_TRUE(kill_all_with(mark));
    arguments = {"sweep", "--resume", run};
  }
  const auto done = emplace_run(3, arguments);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(columns_of(run).at("status"), Each(::testing::AnyOf("finished", "stopped")));
  EXPECT_EQ(columns_of(run), columns_of(undisturbed));
}

TEST_F(Sweep, SaysWhatItsFolderHoldsWhenItIsStartedAgain) {
  const std::string file = space("strategy = \"random\"\ntrials = 2\n"), run = folder_ / "run";
  ASSERT_EQ(emplace_run({"sweep", file, "run=" + run, "--continue"}).exit_code, 0) << "there is nothing to continue";
  const auto again = emplace_run({"sweep", file, "run=" + run});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err,
              AllOf(HasSubstr(run + ": holds a finished sweep"), HasSubstr("--continue"), HasSubstr("run=FOLDER")));
  const auto continued = emplace_run({"sweep", file, "run=" + run, "--continue"});
  EXPECT_EQ(continued.exit_code, 0) << continued.err;
  EXPECT_EQ(lines_with(run + "/record.jsonl", "\"end\""), 2U) << "no trial is trained again";
  const auto other = emplace_run({"sweep", file, "run=" + run, "--continue", "updates=25"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("holds another sweep: 'updates' is '24' there, '25' here"));
  EXPECT_FALSE(file_exists(run + ".1"));
}

TEST_F(Sweep, BeginsNoTrialAfterItsTimeLimit) {
  const std::string run = folder_ / "limited";
  const auto limited = emplace_run(3, {"sweep", space("strategy = \"random\"\ntrials = 9\n"), "run=" + run,
                                       "updates=100000000", "--time-limit", "1s"});
  EXPECT_EQ(limited.exit_code, 75) << limited.err;
  EXPECT_EQ(lines_with(run + "/record.jsonl", "\"begin\""), 2U) << "one a group";
  EXPECT_THAT(columns_of(run).at("status"), Each("waiting"));
}

TEST_F(Sweep, OnAFullDiskStopsAndTrainsTheRestWhenThereIsRoom) {
  const std::string small = folder_ / "small", run = small + "/run";
  make_folder(small);
  const std::string sweep = std::string(EMPLACE_PROGRAM) + " sweep ";
  const auto done =
      test::run({"unshare", "-m", "bash", "-c",
                 "mount -t tmpfs -o size=300k emplace " + small + " || exit 77; " + sweep +
                     space("strategy = \"random\"\ntrials = 12\n") + " run=" + run + "; echo code $?; cat " + run +
                     "/status; grep -c finished " + run + "/sweep.csv; mount -o remount,size=50m " + small + "; " +
                     sweep + "--resume " + run + "; echo code $?; grep -c finished " + run + "/sweep.csv"});
  if (done.exit_code == 77 || done.err.find("unshare failed") != std::string::npos)
    GTEST_SKIP() << "this user may not mount";
  EXPECT_THAT(done.err, HasSubstr("No space left on device; a resumed sweep continues from there"));
  EXPECT_TRUE(done.out.starts_with("code 1\nfailed\n")) << done.out;
  EXPECT_TRUE(done.out.ends_with("code 0\n12\n")) << done.out;
}

TEST_F(Sweep, IsAJobArrayToo) {
  const std::string file = space("strategy = \"sobol\"\ntrials = 4\n");
  const std::string whole = folder_ / "whole", array = folder_ / "array";
  ASSERT_EQ(emplace_run({"sweep", file, "run=" + whole}).exit_code, 0);
  const auto third = emplace_run(3, {"sweep", file, "run=" + array, "--trial", "3"});
  EXPECT_EQ(third.exit_code, 0) << third.err;
  EXPECT_EQ(columns_of(array).at("status"), (std::vector<std::string>{"waiting", "waiting", "waiting", "finished"}));
  {
    // All at the same time, two of them even of one trial, and one that is done already.
    std::deque<Process> tasks;
    for (const char* trial : {"0", "1", "2", "2", "3"})
      tasks.emplace_back(command({"sweep", file, "run=" + array, "--trial", trial}));
    for (Process& task : tasks) {
      const auto done = task.wait();
      EXPECT_EQ(done.exit_code, 0) << done.err;
    }
  }
  EXPECT_EQ(columns_of(array), columns_of(whole));

  const auto beyond = emplace_run({"sweep", file, "run=" + array, "--trial", "4"});
  EXPECT_EQ(beyond.exit_code, 2);
  EXPECT_THAT(beyond.err, HasSubstr("there is no trial 4: the sweep has 4"));
  const auto mixed = emplace_run({"sweep", file, "run=" + whole, "--trial", "1"});
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_THAT(mixed.err, HasSubstr("holds a sweep of all trials"));
  const auto other = emplace_run({"sweep", file, "run=" + array, "updates=25", "--trial", "0"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("another sweep"));
}

TEST_F(Sweep, RefusesWhatItCannotDo) {
  const std::string file = space("strategy = \"random\"\ntrials = 3\n");
  const std::string run = folder_ / "run";
  const auto refused = [&](int ranks, std::vector<std::string> arguments, const std::string& says) {
    const auto done = emplace_run(ranks, std::move(arguments));
    EXPECT_EQ(done.exit_code, 2) << done.err;
    EXPECT_THAT(done.err, HasSubstr(says));
    EXPECT_EQ(done.out, "");
    EXPECT_FALSE(file_exists(run));
  };
  refused(3, {"sweep", file, "run=" + run, "ranks_per_trial=3"},
          "one of the 3 ranks only coordinates: start at least 4");
  refused(2, {"sweep", file, "run=" + run, "strategy=randm"}, "did you mean 'random'");
  refused(1, {"sweep", file, "run=" + run, "space.ppo.lerning_rate=[1]"}, "did you mean");
  refused(1, {"sweep", "--resume", run}, "not a run folder");
  refused(1, {"sweep", file, "--resume", run}, "or --resume FOLDER");
  refused(1, {"sweep", file + "x"}, "did you mean");
  const auto uneven = emplace_run(6, {"sweep", file, "run=" + run, "ranks_per_trial=2"});
  EXPECT_EQ(uneven.exit_code, 0) << uneven.err;
  EXPECT_THAT(uneven.err, HasSubstr("1 of 6 ranks idles"));
  const auto changed = emplace_run({"sweep", "--resume", run, "updates=9"});
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_THAT(changed.err, HasSubstr("'updates' cannot be changed"));
}

TEST_F(Sweep, KeepsToTheTrialsThatItIsResumedWith) {
  const std::string run = folder_ / "run";
  ASSERT_EQ(emplace_run({"sweep", space("strategy = \"random\"\ntrials = 1\n"), "run=" + run}).exit_code, 0);
  ASSERT_EQ(emplace_run({"sweep", "--resume", run, "trials=2"}).exit_code, 0);
  const auto plain = emplace_run({"sweep", "--resume", run});
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(lines_with(run + "/record.jsonl", "\"end\""), 2U);
  EXPECT_EQ(emplace_run({"report", run}).exit_code, 0);
}

TEST_F(Sweep, SaysWhatCameOfItAsOneJsonObject) {
  const std::string run = folder_ / "run";
  const auto done = emplace_run(3, {"sweep", space("strategy = \"random\"\ntrials = 3\n"), "run=" + run, "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json.at("trials"), 3);
  EXPECT_EQ(json.at("finished"), 3);
  EXPECT_EQ(json.at("folder"), run);
  const auto columns = columns_of(run);
  const auto best = json.at("best").at("trial").get<std::size_t>();
  EXPECT_DOUBLE_EQ(json.at("best").at("objective_s").get<double>(), std::stod(columns.at("objective")[best]));
  EXPECT_EQ(json.at("best").at("values").at("ppo.epochs"), columns.at("ppo.epochs")[best]);
}

TEST_F(Sweep, SaysWhichParametersHaveNoEffectInAnyTrial) {
  const Finished done = emplace_run({"sweep", "configs/sweeps/post-learners.toml", "evaluations=100", "trials=2",
                                     "seeds=1", "run=" + (folder_ / "run")});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("post.elite_fraction has no effect in any trial: evaluations is '100', so the "
                                  "training ends before the first refit (post.window is 200)"));
}

TEST_F(Sweep, SharesItsFolderWithNoOther) {
  const std::string file = space("strategy = \"random\"\ntrials = 3\n");
  const std::string run = folder_ / "run";
  Process first(command({"sweep", file, "run=" + run, "updates=100000000"}));
  for (int i = 0; i < 6000 && !file_exists(run + "/trials/0000/checkpoint.h5"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto second = emplace_run({"sweep", file, "run=" + run});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("another run is working in this folder"));
  first.signal(SIGUSR1);
  EXPECT_EQ(first.wait().exit_code, 75);
}

}  // namespace
}  // namespace emplace::test::sweep_test
