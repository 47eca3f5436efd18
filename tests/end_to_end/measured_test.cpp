// Trainings on times that a program of the user measures.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <sstream>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/marked_processes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::measured_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Eight ops in a chain on two devices.
std::string chain_of_eight() {
  json problem = {{"emplace", "problem/1"}, {"name", "eight"}};
  problem["devices"] = {{{"name", "p"}, {"memory_bytes", nullptr}}, {{"name", "q"}, {"memory_bytes", nullptr}}};
  problem["channels"] = {{{"name", "c"}, {"latency_s", 0.001}, {"bytes_per_s", 1e9}}};
  problem["routes"] = {{{"from", 0}, {"to", 1}, {"channels", {0}}}, {{"from", 1}, {"to", 0}, {"channels", {0}}}};
  for (int op = 0; op < 8; ++op) {
    problem["ops"].push_back({{"name", std::to_string(op)}, {"seconds", {0.01, 0.01}}});
    if (op > 0) problem["tensors"].push_back({{"from", op - 1}, {"bytes", 1}, {"to", {op}}});
  }
  return problem.dump();
}

class Measured : public ::testing::Test {
 protected:
  Measured() {
    write_file(problem_, chain_of_eight());
    ::setenv("EMPLACE_TEST_MARK", std::to_string(::getpid()).c_str(), 1);
  }
  ~Measured() override {
    ::unsetenv("EMPLACE_TEST_MARK");
    EXPECT_TRUE(none_left_with(mark_));
  }

  // A training whose program is this shell script.
  std::vector<std::string> training(const std::string& run, const std::string& script,
                                    const std::vector<std::string>& more = {}) const {
    std::ofstream(folder_ / "measure") << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(folder_ / "measure", std::filesystem::perms::owner_all);
    std::vector<std::string> list = {"train",
                                     "configs/recipes/post-published.toml",
                                     "problem=" + problem_,
                                     "run=" + (folder_ / run),
                                     "evaluator=command",
                                     "command.run=[\"./measure\"]",
                                     "command.folder=" + folder_.path(),
                                     "command.repeat=1",
                                     "command.retries=0",
                                     "evaluations=60",
                                     "post.samples_per_update=10",
                                     "checkpoint_every=1",
                                     "compare=[\"single\"]"};
    list.insert(list.end(), more.begin(), more.end());
    return list;
  }
  [[nodiscard]] std::string log(const std::string& run) const { return read_file(folder_ / run + "/log.txt"); }

  TemporaryFolder folder_;
  const std::string problem_ = folder_ / "problem.json", mark_ = "EMPLACE_TEST_MARK=" + std::to_string(::getpid());
  // The time in milliseconds is a checksum of the placement.
  const std::string checksum_ = "set -- $(cksum); echo \"{\\\"seconds\\\": 0.$((1000 + $1 % 9000))}\"";
};

TEST_F(Measured, TheProgramsTimesAreLearnedFromForAnyNumberOfRanks) {
  const auto alone = emplace_run(training("alone", checksum_, {"--json"}));
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const json result = json::parse(alone.out);
  EXPECT_TRUE(result["lower_bound_s"].is_null());
  EXPECT_FALSE(result["proved_optimal"].get<bool>());
  EXPECT_GE(result["makespan_s"].get<double>(), 0.1);
  const auto over_mpi = emplace_run(3, training("ranks", checksum_, {"--json"}));
  ASSERT_EQ(over_mpi.exit_code, 0) << over_mpi.err;
  EXPECT_EQ(json::parse(over_mpi.out)["makespan_ps"], result["makespan_ps"]);
  EXPECT_EQ(read_file(folder_ / "ranks/best.placement.json"), read_file(folder_ / "alone/best.placement.json"));
}

TEST_F(Measured, AKeptProgramGivesTheSameTrainingAndIsStartedOnceForEachRankThatMeasures) {
  // A checksum of the placement without spaces and ends of lines, in which the two inputs differ.
  const std::string kept =
      "echo start >>starts; while IFS= read -r line; do set -- $(echo \"$line\" | tr -d ' \\n' | cksum); "
      "echo \"{\\\"seconds\\\": 0.$((1000 + $1 % 9000))}\"; done";
  const std::string anew = "set -- $(tr -d ' \\n' | cksum); echo \"{\\\"seconds\\\": 0.$((1000 + $1 % 9000))}\"";
  const auto expected = emplace_run(training("anew", anew, {"--json"}));
  ASSERT_EQ(expected.exit_code, 0) << expected.err;
  for (const int ranks : {1, 3}) {
    const std::string run = fmt::format("kept{}", ranks);
    std::filesystem::remove(folder_ / "starts");
    const auto done = emplace_run(ranks, training(run, kept, {"command.keep=true", "--json"}));
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(json::parse(done.out)["makespan_ps"], json::parse(expected.out)["makespan_ps"]);
    EXPECT_EQ(read_file(folder_ / run + "/best.placement.json"), read_file(folder_ / "anew/best.placement.json"));
    EXPECT_LE(read_file(folder_ / "starts").size(), 2 * std::strlen("start\n")) << "two measure at most";
    EXPECT_TRUE(none_left_with(mark_));
  }
}

TEST_F(Measured, TheTableMeasuresWhatPlacersFindAndClaimsNoBound) {
  const auto done = emplace_run(training("run", checksum_ + "; echo run >>count"));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("single"), HasSubstr("post (learned)"), Not(HasSubstr("no placement is faster"))));
  const std::string runs = read_file(folder_ / "count");
  EXPECT_LE(std::count(runs.begin(), runs.end(), '\n'), 61) << "60 placements and one of 'single'";
}

TEST_F(Measured, AResumedRunMeasuresNoPlacementAgain) {
  const std::string script =
      "placement=$(cat); sleep 0.02; set -- $(echo \"$placement\" | cksum); echo $1 >>seen; echo 0.$((1000 + $1 % "
      "9000))";
  const auto count = [&] {
    std::map<std::string, int> times;
    std::istringstream lines(read_file(folder_ / "seen"));
    for (std::string line; std::getline(lines, line);) ++times[line];
    return times;
  };
  {
    Process process(command(training("run", script, {"evaluations=400"})));
    for (int i = 0; i < 30000 && !file_exists(folder_ / "run/checkpoint.previous.h5"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait().exit_code, 128 + SIGKILL) << "it was over before";
  }
  EXPECT_TRUE(none_left_with(mark_)) << "the program outlived the run";
  const auto before = count();
  const auto resumed = emplace_run({"train", "--resume", folder_ / "run", "compare=[]"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("which are not made again"));
  int again = 0;
  for (const auto& [placement, times] : count()) again += times - 1;
  EXPECT_LE(again, 10) << "only those of the batch in which it was killed";
  EXPECT_GT(before.size(), 10U);

  // The same run without interruption: the cache changes no bit of it.
  const auto undisturbed = emplace_run(training("undisturbed", script, {"evaluations=400", "compare=[]"}));
  ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.err;
  EXPECT_EQ(read_file(folder_ / "run/best.placement.json"), read_file(folder_ / "undisturbed/best.placement.json"));
}

TEST_F(Measured, TheMedianOfSeveralRunsCounts) {
  // The n-th run takes n s; the first of a placement is its warm-up: the medians of 2, 3, 4 and of 6, 7, 8 are 3 and 7.
  const auto done = emplace_run(training(
      "run", "echo x >>runs; wc -l <runs",
      {"evaluations=2", "post.samples_per_update=2", "command.repeat=3", "command.warmup=1", "compare=[]", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(json::parse(done.out)["makespan_s"].get<double>(), 3.0);
}

TEST_F(Measured, AFailedRunIsMadeAgainAsOftenAsAllowed) {
  const std::string every_second_fails = "echo x >>runs; [ $(($(wc -l <runs) % 2)) -eq 0 ] && echo 1";
  const auto refused = emplace_run(training("refused", every_second_fails, {"evaluations=10"}));
  EXPECT_EQ(refused.exit_code, 0) << refused.err;
  EXPECT_THAT(log("refused"), HasSubstr("it ended with exit code 1"));
  std::filesystem::remove(folder_ / "runs");
  const auto again = emplace_run(training("again", every_second_fails, {"evaluations=10", "command.retries=1"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(log("again"), Not(HasSubstr("could not be measured")));
}

TEST_F(Measured, EveryWayToFailIsNamedAndTheRunGoesOn) {
  struct Row {
    const char* script;
    const char* reason;
  };
  for (const Row& row :
       {Row{"echo fast", "it printed 'fast"}, Row{"true", "it printed nothing"},
        Row{"echo no such GPU >&2; exit 4", "it ended with exit code 4: 'no such GPU'"},
        Row{"sleep 1000", "it ran longer than 100 ms"}, Row{"yes", "it printed more than 1.00 MiB"},
        Row{"kill -SEGV $$", "it was ended by signal 11"}, Row{"echo -1", "its answer is -1"},
        Row{"echo 0", "its answer is 0"}, Row{"echo NaN", "it printed 'NaN"}, Row{"echo 1e300", "its answer is 1e+300"},
        Row{"echo 1e999", "it printed '1e999"},
        Row{"echo '{\"seconds\": \"fast\"}'", "its \"seconds\" is not a number"},
        Row{"echo '{\"time\": 1}'", "it printed an object without \"seconds\""},
        Row{"echo '{\"feasible\": false, \"reason\": \"out of memory\"}'", "could not be measured: out of memory"},
        Row{"setsid sleep 1000 & exit 5", "it ended with exit code 5"}}) {
    const std::string run = "failing";
    std::filesystem::remove_all(folder_ / run);
    // Only the script that is to take too long has little time.
    const std::string limit =
        std::string_view(row.script) == "sleep 1000" ? "command.seconds=0.1" : "command.seconds=30";
    const auto done = emplace_run(training(run, row.script, {limit, "evaluations=10", "compare=[]"}));
    EXPECT_EQ(done.exit_code, 3) << row.script << done.err;
    EXPECT_THAT(log(run), AllOf(HasSubstr("evaluation 1 of this session could not be measured"), HasSubstr(row.reason),
                                HasSubstr("not one of the first 10 placements could be measured")))
        << row.script;
    EXPECT_TRUE(none_left_with(mark_)) << row.script;
  }
}

TEST_F(Measured, AProgramThatCannotBeStartedIsRefusedBeforeThereIsARun) {
  const auto refused = [&](const std::string& run, const std::string& why) {
    expect_refused(training("refused", "echo 1", {"command.run=" + run}),
                   AllOf(HasSubstr("command.run"), HasSubstr(why)));
    EXPECT_FALSE(file_exists(folder_ / "refused")) << why;
  };
  refused("[\"./mesure\"]", "did you mean 'measure'?");
  refused("[\"measure\"]", "did you mean './measure'?");
  refused("[\"" + folder_.path() + "\"]", "is a folder");
  refused("[\"./problem.json\"]", "Permission denied");
  refused("[]", "a list of a program and its arguments");
  expect_refused(training("refused", "echo 1", {"command.run=./measure"}), HasSubstr("run"));
  expect_refused(training("refused", "echo 1", {"command.folder=/no/such/folder"}), HasSubstr("is not a folder"));
  expect_refused(training("refused", "echo 1", {"command.retrie=2"}), HasSubstr("did you mean 'retries'?"));
}

TEST_F(Measured, NothingOutlivesAJobWhoseRanksAreKilled) {
  Process process(under_mpirun(3, command(training("run", "setsid sleep 1000 & sleep 1000"))));
  for (int i = 0; i < 3000 && processes_with(mark_).size() < 9;
       ++i)  // mpirun, 3 ranks, 2 x (subreaper, shell, 2 sleeps)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(processes_with(mark_).size(), 9U);
  process.signal_group(SIGKILL);
  (void)process.wait();
  EXPECT_TRUE(none_left_with(mark_, std::chrono::seconds(30)));
}

TEST_F(Measured, PlacetoLearnsWithoutStartTimesAndSaysSo) {
  std::vector<std::string> arguments =
      training("run", checksum_,
               {"policy=placeto", "learner=reinforce", "placeto.message_rounds=1", "reinforce.samples_per_update=1",
                "updates=1", "evaluations=20", "compare=[]"});
  std::erase(arguments, "post.samples_per_update=10");
  const auto done = emplace_run(arguments);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("reads when each op starts, which a measurement does not say"));
}

TEST_F(Measured, TheCacheOfASimulatedRunChangesNoBit) {
  const auto best = [&](const std::string& run, const std::string& cache) {
    const auto done =
        emplace_run(2, {"train", "configs/recipes/post-published.toml", "problem=" + problem_, "run=" + (folder_ / run),
                        "cache=" + cache, "evaluations=200", "compare=[]", "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(file_exists(folder_ / run + "/evaluations"), cache == "all");
    json result = json::parse(done.out);
    result.erase("seconds");
    result.erase("next");  // names the run
    return result;
  };
  EXPECT_EQ(best("all", "all"), best("none", "none"));
}

TEST_F(Measured, TheExampleMeasuresForReal) {
  const json problem = json::parse(read_file("configs/problems/two-branches.json"));
  json placement = {{"emplace", "placement/1"}, {"problem", "two-branches"}};
  std::string ops;
  for (const json& op : problem["ops"]) ops += (ops.empty() ? "" : ",\n") + op["name"].dump() + ": \"core:0\"";
  const auto once = run({"sh", "-c", "printf '{\"ops\": {\n%s\n}}' '" + ops + "' | launch/measure"});
  ASSERT_EQ(once.exit_code, 0) << once.err;
  EXPECT_GT(json::parse(once.out)["seconds"].get<double>(), 0.0);

  const auto done = emplace_run({"train", "configs/recipes/measured.toml", "problem=configs/problems/two-branches.json",
                                 "command.run=[\"launch/measure\"]", "command.keep=false", "run=" + (folder_ / "run"),
                                 "evaluations=10", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_GT(json::parse(done.out)["makespan_s"].get<double>(), 0.0);
}

}  // namespace
}  // namespace emplace::test::measured_test
