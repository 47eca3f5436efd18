#include "report/run_page.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "tests/report/sweep_folders.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::report::run_page_test {
namespace {

using nlohmann::json;

class RunPageTest : public ::testing::Test {
 protected:
  std::string run(const std::string& name, const std::vector<double>& best) {
    const std::string path = folder_ / name;
    make_folder(path);
    write_file(path + "/config.toml", "problem = \"p.json\"\npolicy = \"post\"\nlearner = \"ppo\"\n");
    write_file(path + "/status", "finished\n");
    if (!best.empty()) test::write_metrics(path, best);
    return path;
  }
  test::TemporaryFolder folder_;
};

TEST_F(RunPageTest, HasTheColumnsOfEachRun) {
  const std::vector<std::string> folders = {run("a", {std::nan(""), 0.5}), run("b", {0.25})};
  const json page = test::data_of(run_page(folders).html);
  EXPECT_EQ(page["name"], "2 runs");
  ASSERT_EQ(page["runs"].size(), 2U);
  EXPECT_EQ(page["runs"][0]["name"], "a");
  EXPECT_EQ(page["runs"][0]["status"], "finished");
  EXPECT_EQ(page["runs"][0]["columns"]["best_step_time"], (json{nullptr, 0.5}));
  EXPECT_EQ(page["runs"][0]["columns"]["wall_seconds"], (json{0.5, 1.0}));
  EXPECT_EQ(page["runs"][1]["columns"]["entropy"], json::array({1}));
  EXPECT_EQ(page["runs"][1]["settings"],
            json::parse(R"([["problem", "p.json"], ["policy", "post"], ["learner", "ppo"]])"));
}

TEST_F(RunPageTest, IsThereBeforeTheFirstUpdate) {
  const std::vector<std::string> folders = {run("a", {})};
  const RunPage page = run_page(folders);
  EXPECT_EQ(page.points, 0U);
  json shown = test::data_of(page.html)["runs"][0];
  EXPECT_EQ(shown["updates"], 0);
  EXPECT_THAT(shown["nothing_to_draw"].get<std::string>(), ::testing::HasSubstr("No update has been made yet"));
  write_file(folders[0] + "/best.placement.json", "{}");
  for (const char* metrics : {"", "update,evaluations\n"}) {
    write_file(folders[0] + "/metrics.csv", metrics);
    shown = test::data_of(run_page(folders).html)["runs"][0];
    EXPECT_THAT(shown["nothing_to_draw"].get<std::string>(), ::testing::HasSubstr("metrics.csv is missing or empty"));
  }
  const std::vector<std::string> whole = {run("b", {0.5})};
  EXPECT_EQ(test::data_of(run_page(whole).html)["runs"][0]["nothing_to_draw"], nullptr);
}

TEST_F(RunPageTest, SaysHowToGoOnOnlyOnceItStopped) {
  const std::vector<std::string> folders = {run("a", {0.5})};
  write_file(folders[0] + "/status", "running\n");
  json shown = test::data_of(run_page(folders).html)["runs"][0];
  EXPECT_EQ(shown["status"], "interrupted");
  EXPECT_EQ(shown["commands"][0]["says"], "Continue where it stopped");
  EXPECT_EQ(shown["commands"][0]["command"], "emplace train --resume " + folders[0]);
  EXPECT_EQ(shown["commands"][1]["command"],
            "emplace train " + folders[0] + "/config.toml run=" + folders[0] + "-again");
  const experiment::RunFolder working = experiment::RunFolder::open(folders[0]);
  shown = test::data_of(run_page(folders).html)["runs"][0];
  EXPECT_EQ(shown["status"], "running");
  EXPECT_EQ(shown["commands"][0]["says"], "Continue it if it is stopped");
  working.set_status("finished");
  shown = test::data_of(run_page(folders).html)["runs"][0];
  ASSERT_EQ(shown["commands"].size(), 1U);
  EXPECT_EQ(shown["commands"][0]["says"], "Train the same again, into another folder");
}

TEST_F(RunPageTest, SaysThatThereIsNoPlacementYet) {
  const std::vector<std::string> folders = {run("a", {0.5})};
  const RunPage page = run_page(folders);
  EXPECT_EQ(page.placements, 0U);
  const json placements = test::data_of(page.html)["placements"];
  ASSERT_EQ(placements.size(), 1U);
  EXPECT_THAT(placements[0]["missing"].get<std::string>(), ::testing::HasSubstr("has not written a placement yet"));
}

TEST_F(RunPageTest, KnowsWhetherAllRunsAreOfOneProblem) {
  const std::vector<std::string> folders = {run("a", {0.5}), run("b", {0.25})};
  const auto of_one_problem = [&] { return test::data_of(run_page(folders).html)["one_problem"].get<bool>(); };
  EXPECT_TRUE(of_one_problem());
  write_file(folders[1] + "/config.toml", "problem = \"p.json\"\npolicy = \"single\"\nseed = 3\n");
  EXPECT_TRUE(of_one_problem()) << "learnt in another way";
  write_file(folders[1] + "/config.toml", "problem = \"p.json\"\nbatch = 3\n");
  EXPECT_FALSE(of_one_problem());
  write_file(folders[1] + "/config.toml", "problem = \"q.json\"\n");
  EXPECT_FALSE(of_one_problem());
}

TEST_F(RunPageTest, RefusesStepTimesBesideLoads) {
  const std::vector<std::string> folders = {run("a", {0.5}), run("b", {0.25})};
  write_file(folders[1] + "/config.toml", "problem = \"p.json\"\nobjective = \"pipeline\"\n");
  try {
    (void)run_page(folders);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), folders[1] + ": its trainings are measured by load, those of " + folders[0] +
                                " by step time: make a page for each");
  }
}

TEST_F(RunPageTest, KnowsARunFromASweepAndFromNothing) {
  EXPECT_TRUE(is_run_folder(run("a", {})));
  EXPECT_FALSE(is_run_folder(folder_.path()));
  write_file(folder_ / "config.toml", "problem = \"p.json\"\n[space]\n");
  EXPECT_FALSE(is_run_folder(folder_.path()));
}

}  // namespace
}  // namespace emplace::report::run_page_test
