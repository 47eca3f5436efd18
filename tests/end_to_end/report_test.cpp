// `emplace report` from the command line: a page in the folder of a sweep or a run, and one sentence for other folders.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::report_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Report : public ::testing::Test {
 protected:
  // Four trials, half of which fail, because a group_share below 1 is not allowed with their grouping.
  std::string sweep() {
    write_file(folder_ / "space.toml", "problem = \"" + small_training +
                                           "@k40x2\"\npolicy = \"post\"\nlearner = \"ppo\"\ngrouping = \"chain\"\n"
                                           "updates = 3\nstrategy = \"grid\"\n[space]\ngroup_share = [1, 0.5]\n"
                                           "ppo.epochs = [1, 4]\n");
    const auto done = emplace_run({"sweep", folder_ / "space.toml", "run=" + (folder_ / "sweep")});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return folder_ / "sweep";
  }
  TemporaryFolder folder_;
};

TEST_F(Report, OfASweepIsAPageInItsFolder) {
  const std::string folder = sweep();
  const auto done = emplace_run({"report", folder, "--seconds", "0.2", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(json::parse(done.out), (json{{"report", folder + "/report.html"},
                                         {"kind", "sweep"},
                                         {"folder", folder},
                                         {"trials", 4},
                                         {"trials_total", 4},
                                         {"curves", 2},
                                         {"curves_total", 2}}));
  const std::string page = read_file(folder + "/report.html");
  EXPECT_THAT(page, AllOf(::testing::StartsWith("<!DOCTYPE html>"), HasSubstr("\"counts\":{\"finished\":2"),
                          HasSubstr("only for the groupings 'colocrl'")));
  const auto again = emplace_run({"report", folder, "--seconds", "0.2", "--output", folder_ / "page.html"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("page.html: 4 of 4 trials, 2 of 2 learning curves"));
  EXPECT_EQ(read_file(folder_ / "page.html"), page) << "the same folder gives the same page";
}

TEST_F(Report, CommandsNameTheFolderWhicheverWayItWasGiven) {
  const std::string folder = sweep();
  for (const char* end : {"/", "//", "/.", "/trials/.."}) {
    const auto done = emplace_run({"report", folder + end, "--seconds", "0.2"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const std::string page = read_file(folder + "/report.html");
    EXPECT_THAT(page, AllOf(HasSubstr("/sweep-again\""), HasSubstr("/sweep-best\""))) << end;
  }
}

TEST_F(Report, OfRunsIsAPageOfTheirCurves) {
  const std::string trials = sweep() + "/trials/";
  const auto done = emplace_run(
      {"report", trials + "0000", trials + "0001", "-o", folder_ / "both.html", "--seconds", "0.2", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json printed = json::parse(done.out);
  EXPECT_EQ(printed["kind"], "run");
  EXPECT_EQ(printed["folders"], (json{trials + "0000", trials + "0001"}));
  EXPECT_EQ(printed["points"], 6);
  EXPECT_EQ(printed["placements"], 2);
  EXPECT_THAT(read_file(folder_ / "both.html"), HasSubstr("\"best_step_time\":["));
}

TEST_F(Report, RefusesTheSameFolderTwice) {
  const std::string trials = sweep() + "/trials/";
  const std::string other_name = trials + "../trials/0000";
  expect_refused({"report", trials + "0000", trials + "0001", trials + "0000/"},
                 AllOf(HasSubstr("0000"), HasSubstr("named twice")));
  expect_refused({"report", trials + "0000", other_name}, AllOf(HasSubstr(other_name), HasSubstr("named twice")));
}

// The page shows the output of `explain` for the best placement, and the command on the page trains to the same
// placement.
TEST_F(Report, OfARunShowsItsPlacementAndTheCommandThatFindsItAgain) {
  const std::string run = folder_ / "run", problem = small_training + "@k40x2";
  write_file(folder_ / "recipe.toml", "problem = \"" + problem + "\"\nupdates = 3\ncompare = []\n");
  ASSERT_EQ(emplace_run({"train", folder_ / "recipe.toml", "run=" + run}).exit_code, 0);
  const auto done = emplace_run({"report", run, "--seconds", "0.2"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("learning curves of 1 run, 1 placement"));
  const std::string page = read_file(run + "/report.html");
  const auto explained =
      emplace_run({"explain", problem, run + "/best.placement.json", "--evaluations", "0", "--json"});
  const json explanation = json::parse(explained.out);
  EXPECT_THAT(page,
              HasSubstr(fmt::format("\"timeline\":{{\"end\":{},", explanation["makespan_ps"].get<std::int64_t>())));
  for (const json& device : explanation["devices"])
    EXPECT_THAT(page, HasSubstr(fmt::format("\"peak\":{},", device["peak_memory_bytes"].get<std::int64_t>())));
  EXPECT_THAT(page, HasSubstr("emplace train " + run + "/config.toml run=" + run + "-again"));
  ASSERT_EQ(emplace_run({"train", run + "/config.toml", "run=" + run + "-again"}).exit_code, 0);
  EXPECT_EQ(read_file(run + "-again/best.placement.json"), read_file(run + "/best.placement.json"));
}

TEST_F(Report, ReplacesNoFileOfTheFolderButAnEarlierPage) {
  const std::string folder = sweep(), trial = folder + "/trials/0000", problem = folder_ / "problem.json";
  const auto refused = [&](const std::string& source, const std::string& output) {
    const std::string before = read_file(output);
    expect_refused({"report", source, "-o", output}, AllOf(HasSubstr(output), HasSubstr("would be lost")));
    EXPECT_EQ(read_file(output), before) << output;
  };
  for (const char* name : {"/sweep.csv", "/config.toml", "/record.jsonl", "/trials/0001/checkpoint.h5"})
    refused(folder, folder + name);
  for (const char* name : {"/checkpoint.h5", "/config.toml", "/metrics.csv", "/best.placement.json", "/log.txt"})
    refused(trial, trial + name);
  std::filesystem::create_symlink(trial + "/checkpoint.h5", folder_ / "link.html");
  refused(trial, folder_ / "link.html");
  std::filesystem::create_symlink(trial, folder_ / "other");
  refused(folder_ / "other", trial + "/metrics.csv");
  refused(trial, folder_ / "other/metrics.csv");

  ASSERT_EQ(emplace_run({"cost", small_training, "k40x2", "-o", problem}).exit_code, 0);
  ASSERT_EQ(emplace_run({"train", "configs/recipes/post-published.toml", "problem=" + problem, "updates=1",
                         "compare=[]", "run=" + (folder_ / "run")})
                .exit_code,
            0);
  refused(folder_ / "run", problem);
  for (const char* name : {"/report.html", "/mine.html"})
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(emplace_run({"report", trial, "-o", trial + name, "--seconds", "0.2"}).exit_code, 0) << name;
}

TEST_F(Report, OfAPlacementNamesTheFileThatIsWrong) {
  const std::string problem = "zoo:inception-v3?batch=1@i9-flex170";
  expect_refused({"report", problem, folder_ / "nosuch.json"}, HasSubstr("nosuch.json: cannot be read"));
  expect_refused({"report", problem, "--batch", "4"}, HasSubstr("wanted one placement after it"));
  expect_refused({"report", folder_ / "gone@2"}, HasSubstr("gone@2: No such file or directory"));
  expect_refused({"report", folder_ / "gone@2", folder_ / "gone@3"}, HasSubstr("gone@2: No such file or directory"));
}

TEST_F(Report, OfAnInfeasiblePlacementSaysWhyItIsOne) {
  write_file(folder_ / "p.json",
             R"({"emplace": "problem/1", "name": "tight", "tensors": [], "channels": [], "routes": [],
 "devices": [{"name": "a", "memory_bytes": 30}, {"name": "b", "memory_bytes": 30}],
 "ops": [{"name": "x", "seconds": [1, 1], "resident_bytes": 20}, {"name": "y", "seconds": [1, 1], "resident_bytes": 20}]})");
  write_file(folder_ / "q.json", R"({"emplace": "placement/1", "ops": {"x": "a", "y": "a"}})");
  ASSERT_EQ(emplace_run({"report", folder_ / "p.json", folder_ / "q.json", "--seconds", "0.2"}).exit_code, 0);
  const std::string page = read_file(folder_ / "q.html");
  EXPECT_THAT(page, AllOf(HasSubstr("this placement is not feasible: "), HasSubstr("10 B")));
}

TEST_F(Report, WhatIsNeitherASweepNorARunIsRefusedInOneSentence) {
  make_folder(folder_ / "empty");
  expect_refused({"report", folder_ / "empty"}, AllOf(HasSubstr("empty"), HasSubstr("neither a sweep nor a run")));
  expect_refused({"report", folder_ / "missing"}, HasSubstr("missing"));
  write_file(folder_ / "file", "x");
  expect_refused({"report", folder_ / "file"}, HasSubstr("wanted the folder"));
  write_file(folder_ / "empty/config.toml", "name = \"a machine\"\n");
  expect_refused({"report", folder_ / "empty"}, HasSubstr("neither a sweep nor a run"));
  write_file(folder_ / "empty/config.toml", "problem = \n");
  expect_refused({"report", folder_ / "empty"}, HasSubstr("config.toml:1"));
  expect_refused({"report"}, HasSubstr("folders"));
  expect_refused({"report", folder_ / std::string(300, 'x')}, HasSubstr("File name too long"));
  std::filesystem::create_symlink("round", folder_ / "round");
  expect_refused({"report", folder_ / "round"}, HasSubstr("Too many levels of symbolic links"));
  EXPECT_FALSE(file_exists(folder_ / "empty/report.html"));
}

TEST_F(Report, DamageIsRefusedByLineAndASweepHasAPageOfItsOwn) {
  const std::string folder = sweep();
  expect_refused({"report", folder, folder + "/trials/0000"}, HasSubstr("name it alone"));
  const std::string metrics = folder + "/trials/0001/metrics.csv";
  write_file(metrics, read_file(metrics) + "4,80\n");
  expect_refused({"report", folder}, AllOf(HasSubstr("metrics.csv:5"), HasSubstr("2 cells, wanted")));
  expect_refused({"report", folder + "/trials/0001"}, HasSubstr("metrics.csv:5"));
  std::string record = read_file(folder + "/record.jsonl");
  record.insert(record.find("begin"), "x");
  write_file(folder + "/record.jsonl", record);
  expect_refused({"report", folder}, AllOf(HasSubstr("record.jsonl:2"), HasSubstr("checksum")));
}

}  // namespace
}  // namespace emplace::test::report_test
