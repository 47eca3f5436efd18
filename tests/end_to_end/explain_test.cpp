// `explain`, `compare` and `simulate --trace` from the command line.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::explain_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Explain : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(problem_, example_problem);
    good_ = placement("good.json", R"("ops": {"a": "gpu:0", "b": "cpu:0"})");
    slow_ = placement("slow.json", R"("ops": {"a": "cpu:0", "b": "cpu:0"})");
    bad_ = placement("bad.json", R"("ops": {"a": "gpu:0", "b": "gpu:0"})");
  }
  std::string placement(const std::string& name, const std::string& rest) {
    write_file(folder_ / name, R"({"emplace": "placement/1", "problem": "two-device chain", )" + rest + "}");
    return folder_ / name;
  }
  TemporaryFolder folder_;
  std::string problem_ = folder_ / "problem.json";
  std::string good_, slow_, bad_;
};

TEST_F(Explain, PrintsOneObjectWhoseFiguresAreThoseOfSimulate) {
  const auto done = emplace_run({"explain", problem_, good_, "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.err, "");
  const json explained = json::parse(done.out);
  const json simulated = json::parse(emplace_run({"simulate", problem_, good_, "--json"}).out);
  for (const char* key : {"makespan_ps", "makespan_s", "feasible", "reason"}) EXPECT_EQ(explained[key], simulated[key]);
  for (std::size_t i : {0, 1}) {
    for (const char* key : {"name", "busy_s", "peak_memory_bytes", "overflow_bytes"})
      EXPECT_EQ(explained["devices"][i][key], simulated["devices"][i][key]) << key;
    for (const char* key : {"name", "busy_s", "bytes"})
      EXPECT_EQ(explained["channels"][i][key], simulated["channels"][i][key]) << key;
  }
  EXPECT_EQ(explained["critical_path"]["steps"].size(), 3U);
}

TEST_F(Explain, FindsTheMoveThatHelps) {
  const auto done = emplace_run({"explain", problem_, slow_});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("two-device chain: 20 ms a step (fifo schedule), feasible"),
                              HasSubstr("Single moves that help most (the only one was tried)"),
                              HasSubstr("a     cpu:0  gpu:0   11.01 ms  44.95 %")));
  const json none = json::parse(emplace_run({"explain", problem_, slow_, "--evaluations", "0", "--json"}).out);
  EXPECT_EQ(none["moves"], (json{{"possible", 1}, {"guessed", 0}, {"simulated", 0}, {"best", json::array()}}));
}

TEST_F(Explain, OfAnInfeasiblePlacementEndsWithZeroAndSaysWhy) {
  const auto done = emplace_run({"explain", problem_, bad_});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("not feasible: op 'b' cannot run on device 'gpu:0'"));
}

TEST_F(Explain, RefusesWhatSimulateRefuses) {
  EXPECT_EQ(emplace_run({"explain", problem_, folder_ / "missing.json"}).exit_code, 2);
  const auto unordered = emplace_run({"explain", problem_, good_, "--schedule", "priority", "--json"});
  EXPECT_EQ(unordered.exit_code, 2);
  EXPECT_EQ(unordered.out, "");
  EXPECT_THAT(unordered.err, HasSubstr("needs an order"));
}

TEST_F(Explain, ComparePutsPlacementsSideBySide) {
  const auto done = emplace_run({"compare", problem_, slow_, good_, bad_});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("slow.json  good.json  bad.json"), HasSubstr("bad.json is not feasible: op 'b'")));
  const json compared = json::parse(emplace_run({"compare", problem_, slow_, good_, bad_, "--json"}).out);
  EXPECT_EQ(compared["best"], good_);
  EXPECT_DOUBLE_EQ(compared["placements"][0]["ratio_to_best"].get<double>(), 20000000000.0 / 11010341333.0);
  const auto alone = emplace_run({"compare", problem_, good_});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("At least 2"));
}

// Only cpu:0 can run b, so that good.json, with a on gpu:0, is what the best single device does.
TEST_F(Explain, SimulateAndCompareSayWhatThePlacementIsWorthAsPlaceDoes) {
  const std::string worse = "worse than one device: everything on ";
  const auto simulated = emplace_run({"simulate", problem_, slow_});
  EXPECT_THAT(simulated.out, AllOf(HasSubstr("\nverdict\n  step time "), HasSubstr("one device (cpu:0)"),
                                   HasSubstr("bound ("), HasSubstr(worse), HasSubstr("\nnext: emplace place best ")));
  EXPECT_THAT(emplace_run({"explain", problem_, slow_}).out,
              AllOf(HasSubstr("\none device (cpu:0)"), HasSubstr(worse), HasSubstr("\nnext: emplace place best ")));
  EXPECT_THAT(emplace_run({"compare", problem_, slow_, good_}).out,
              AllOf(HasSubstr("\nthe best of them: " + good_ + "\nverdict\n"), HasSubstr("this one is optimal")));
  EXPECT_THAT(emplace_run({"compare", problem_, bad_, bad_}).out,
              AllOf(HasSubstr("\nnone is feasible; the nearest: "), HasSubstr("this placement is not feasible")));
}

TEST_F(Explain, SimulateDoesNotProposeItselfWhereAnotherCommandProposesIt) {
  EXPECT_THAT(emplace_run({"compare", problem_, good_, slow_, "--objective", "pipeline"}).out,
              HasSubstr("\nnext: emplace simulate "));
  EXPECT_THAT(emplace_run({"simulate", problem_, good_, "--objective", "pipeline"}).out,
              AllOf(HasSubstr("\nverdict\n"), ::testing::Not(HasSubstr("\nnext: "))));
}

TEST_F(Explain, NoVerdictIsOnTimesByTheRulesOfAnotherSimulator) {
  const auto done = emplace_run({"simulate", problem_, good_, "--simulator", "placeto"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, ::testing::Not(HasSubstr("verdict")));
}

TEST_F(Explain, ReportPrintsTheVerdictOfItsPage) {
  EXPECT_THAT(emplace_run({"report", problem_, slow_}).out,
              AllOf(HasSubstr("slow.html: 1 placement\n\nverdict\n"), HasSubstr("worse than one device: ")));
  const json done = json::parse(emplace_run({"report", problem_, slow_, "--json"}).out);
  EXPECT_THAT(done["verdict"][0].get<std::string>(), HasSubstr("worse than one device: "));
  EXPECT_THAT(done["next"].get<std::string>(), HasSubstr("emplace place best "));
}

TEST_F(Explain, ComparesLoadsOfAPipelineAsSimulateCountsThem) {
  const auto done = emplace_run({"compare", problem_, slow_, good_, "--objective", "pipeline", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json compared = json::parse(done.out);
  for (const std::size_t i : {0, 1}) {
    const json alone = json::parse(
        emplace_run({"simulate", problem_, i == 0 ? slow_ : good_, "--objective", "pipeline", "--json"}).out);
    EXPECT_EQ(compared["placements"][i]["load_s"], alone["load_s"]);
  }
  EXPECT_EQ(compared["best"], good_);
  EXPECT_THAT(
      emplace_run({"compare", problem_, slow_, good_, "--objective", "pipeline"}).out,
      AllOf(HasSubstr("load of the busiest"), HasSubstr("gpu:0: load"), ::testing::Not(HasSubstr("step time"))));
}

TEST_F(Explain, IsOfAStepAndSendsLoadsElsewhere) {
  const auto done = emplace_run({"explain", problem_, good_, "--objective", "pipeline"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, AllOf(HasSubstr("--objective"), HasSubstr("one step"), HasSubstr("simulate and compare")));
  const auto typo = emplace_run({"explain", problem_, good_, "--objective", "stepp"});
  EXPECT_EQ(typo.exit_code, 2);
  EXPECT_THAT(typo.err, HasSubstr("did you mean 'step'"));
  EXPECT_EQ(emplace_run({"explain", problem_, good_, "--objective", "step"}).exit_code, 0);
}

TEST_F(Explain, SimulateWritesATraceBesideItsResult) {
  const std::string trace = folder_ / "trace.json";
  const auto done = emplace_run({"simulate", problem_, good_, "--trace", trace, "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json events = json::parse(read_file(trace));
  EXPECT_EQ(events["otherData"]["makespan_ps"], json::parse(done.out)["makespan_ps"]);
  std::size_t slices = 0;
  for (const json& event : events["traceEvents"]) slices += event["ph"] == "X" ? 1 : 0;
  EXPECT_EQ(slices, 3U) << "two ops and a transfer";
}

TEST_F(Explain, SimulateTracesThroughALinkAndToStandardOutput) {
  const std::string target = folder_ / "target.json", link = folder_ / "link.json";
  write_file(target, "old");
  std::filesystem::create_symlink("target.json", link);
  ASSERT_EQ(emplace_run({"simulate", problem_, good_, "--trace", link, "--json"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(json::parse(read_file(target))["otherData"]["problem"], "two-device chain");

  // A link in the test's folder, like /dev/stdout, so that the test cannot damage files elsewhere.
  const std::string output = folder_ / "output";
  std::filesystem::create_symlink("/proc/self/fd/1", output);
  const auto both = emplace_run({"simulate", problem_, good_, "--trace", output});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.out, AllOf(HasSubstr("traceEvents"), HasSubstr("(fifo schedule), feasible")));
  EXPECT_TRUE(std::filesystem::is_symlink(output));
}

TEST_F(Explain, SimulateOfAFolderAsTraceFailsAndLeavesNothing) {
  std::filesystem::create_directory(folder_ / "folder");
  const auto done = emplace_run({"simulate", problem_, good_, "--trace", folder_ / "folder", "--json"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.err, HasSubstr("folder: cannot be written"));
  EXPECT_FALSE(file_exists(folder_ / "folder.writing"));
}

TEST_F(Explain, HelpNamesAllThatItTakes) {
  for (const char* command : {"simulate", "explain", "compare"}) {
    const auto done = emplace_run({command, "--help"});
    EXPECT_THAT(done.out, AllOf(HasSubstr("workload"), HasSubstr("expert split"))) << command;
  }
  EXPECT_THAT(emplace_run({"list", "simulators"}).out, HasSubstr("One of none, uniform, normal."));
  const json list = json::parse(emplace_run({"list", "simulators", "--json"}).out);
  bool any_choices = false;
  for (const json& entry : list)
    for (const json& option : entry["options"]) any_choices |= option.contains("choices");
  EXPECT_TRUE(any_choices);
}

TEST_F(Explain, InspectOfAPlacementWithoutAScheduleSaysNull) {
  const json inspected = json::parse(emplace_run({"inspect", good_, "--json"}).out);
  EXPECT_TRUE(inspected["schedule"].is_null());
}

TEST_F(Explain, SimulateOfWhatCannotRunWarnsThatThereIsNoTrace) {
  const std::string trace = folder_ / "trace.json";
  const auto done = emplace_run({"simulate", problem_, bad_, "--trace", trace, "--json"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.err, HasSubstr("no trace is written"));
  EXPECT_FALSE(file_exists(trace));
}

}  // namespace
}  // namespace emplace::test::explain_test
