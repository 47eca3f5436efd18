#include "report/sweep_page.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "experiment/sweep/importance.hpp"
#include "tests/report/sweep_folders.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::report::sweep_page_test {
namespace {

using nlohmann::json;
using test::came_to;
using test::data_of;
using test::failed_with;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class SweepPageTest : public ::testing::Test {
 protected:
  json data(const SweepPageLimits& limits = {}) {
    return data_of(sweep_page(experiment::read_sweep_folder(path_), limits).html);
  }
  std::string refusal() {
    try {
      (void)sweep_page(experiment::read_sweep_folder(path_));
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }
  test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "sweep";
};

TEST_F(SweepPageTest, HasEveryTrialWithItsValuesAndWhatCameOfIt) {
  // Objectives 3, 2, 1; the fourth fails.
  test::write_sweep(path_, test::sweep_text("trials = 4"), [](std::size_t trial, const experiment::Assignment&) {
    return trial == 3 ? failed_with("it broke") : came_to(3.0 - static_cast<double>(trial));
  });
  const experiment::SweepFolder folder = experiment::read_sweep_folder(path_);
  const json page = data();
  EXPECT_EQ(page["status"], "finished");
  EXPECT_EQ(page["counts"], (json{{"finished", 3}, {"stopped", 0}, {"failed", 1}, {"running", 0}, {"waiting", 0}}));
  EXPECT_EQ(page["best"], 2);
  ASSERT_EQ(page["parameters"].size(), 6U);
  EXPECT_EQ(page["parameters"][0]["choices"], (json{"reinforce", "ppo"}));
  EXPECT_EQ(page["parameters"][1]["when"], "learner = ppo");
  EXPECT_EQ(page["parameters"][1]["scale"], "log");
  EXPECT_EQ(page["parameters"][5]["whole"], true);
  ASSERT_EQ(page["trials"].size(), 4U);
  for (std::size_t trial = 0; trial < 4; ++trial) {
    const json& row = page["trials"][trial];
    EXPECT_EQ(row["trial"], trial);
    EXPECT_EQ(row["objective"], trial == 3 ? json() : json(3.0 - static_cast<double>(trial)));
    EXPECT_EQ(row["ended"], trial + 1);
    for (std::size_t p = 0; p < 6; ++p) {
      const std::optional<double> value = folder.rows[trial].assignment->values[p];
      EXPECT_EQ(row["values"][p], value ? json(*value) : json());
    }
  }
  EXPECT_EQ(page["trials"][3]["error"], "it broke");
  EXPECT_EQ(page["commands"][0]["command"], "emplace sweep " + path_ + "/config.toml run=" + path_ + "-again");
}

TEST_F(SweepPageTest, BeginsWithItsHead) {
  test::write_sweep(path_, test::sweep_text("trials = 2"),
                    [](std::size_t, const experiment::Assignment&) { return came_to(1); });
  EXPECT_TRUE(data()["head"].is_null());
  const verdict::Verdict head{.rows = {{"best trial", 1'000'000'000'000}},
                              .sentences = {"worse than one device"},
                              .about_bound = {},
                              .next = {}};
  const json page = data_of(sweep_page(experiment::read_sweep_folder(path_), {}, head).html);
  EXPECT_EQ(page["head"]["sentences"], json::array({"worse than one device"}));
}

TEST_F(SweepPageTest, ShowsTheSharesOfImportances) {
  test::write_sweep(path_, test::sweep_text("trials = 12"),
                    [](std::size_t trial, const experiment::Assignment& assignment) {
                      return came_to(1 + *assignment.values[0] + 0.01 * static_cast<double>(trial % 5));
                    });
  const experiment::SweepFolder folder = experiment::read_sweep_folder(path_);
  const std::vector<experiment::Importance> wanted = experiment::importances(folder.sweep.space, folder.rows);
  const json shown = data()["importances"];
  ASSERT_EQ(shown.size(), wanted.size());
  for (std::size_t p = 0; p < wanted.size(); ++p) {
    EXPECT_EQ(shown[p]["key"], wanted[p].key);
    EXPECT_NEAR(shown[p]["share"].get<double>(), wanted[p].share, 1e-5);
    EXPECT_NEAR(shown[p]["noise"].get<double>(), wanted[p].noise, 1e-5);
  }
  EXPECT_GT(shown[0]["share"], 0.9);
}

TEST_F(SweepPageTest, ACurveHasAPointWhereTheBestTimeChangesAndAtItsEnd) {
  test::write_sweep(path_, test::sweep_text("trials = 1"),
                    [](std::size_t, const experiment::Assignment&) { return came_to(2); });
  test::write_metrics(experiment::trial_folder(path_, 0), {std::nan(""), 3, 3, 2, 2, 2});
  const json line = data()["curves"][0];
  EXPECT_EQ(line["trial"], 0);
  EXPECT_EQ(line["best"], (json{3, 2, 2}));
  EXPECT_EQ(line["x"]["update"], (json{2, 4, 6}));
  EXPECT_EQ(line["x"]["evaluations"], (json{20, 40, 60}));
  EXPECT_EQ(line["x"]["wall_seconds"], (json{1, 2, 3}));
}

TEST_F(SweepPageTest, OfManyTrialsDrawsTheBestCurvesAndSomeOfTheOthersAndSaysHowManyThereAre) {
  test::write_sweep(path_, test::sweep_text("trials = 30"), [](std::size_t trial, const experiment::Assignment&) {
    return came_to(30.0 - static_cast<double>(trial));
  });
  const SweepPage page = sweep_page(experiment::read_sweep_folder(path_), {.trials = 10, .curves = 8, .points = 4});
  EXPECT_EQ(page.curves, 8U);
  EXPECT_EQ(page.curves_total, 30U);
  EXPECT_EQ(page.trials, 10U);
  EXPECT_EQ(page.trials_total, 30U);
  const json drawn = data_of(page.html);
  std::vector<int> curves;
  for (const json& line : drawn["curves"]) {
    curves.push_back(line["trial"]);
    EXPECT_LE(line["best"].size(), 4U);
  }
  // The two best of 30, then every 28 / 6th of the others, the worst among them.
  EXPECT_THAT(curves, ElementsAre(29, 28, 24, 19, 14, 10, 5, 0));
  EXPECT_EQ(drawn["trials"][0]["trial"], 20) << "the ten best";
  EXPECT_EQ(drawn["counts"]["finished"], 30) << "of all";
}

TEST_F(SweepPageTest, TrialsWithoutAFeasiblePlacementAreCountedAmongTheTrainedOnes) {
  test::write_sweep(path_, test::sweep_text("trials = 4"), [](std::size_t trial, const experiment::Assignment&) {
    return came_to(1.0 + static_cast<double>(trial));
  });
  for (const std::size_t trial : {0, 3}) test::write_metrics(experiment::trial_folder(path_, trial), {std::nan("")});
  for (const std::size_t most : {3, 4}) {  // trials 0, 1 and 3 of 4, then all of them
    const SweepPage page = sweep_page(experiment::read_sweep_folder(path_), {.curves = most});
    EXPECT_EQ(page.curves, most - 2);
    EXPECT_EQ(page.curves_total, 4U);
    EXPECT_EQ(data_of(page.html)["curves_sampled"], most == 3);
  }
}

TEST_F(SweepPageTest, ATrialOfSeveralSeedsShowsTheMiddleOne) {
  test::write_sweep(path_, test::sweep_text("trials = 1\nseeds = [4, 5, 6]"),
                    [](std::size_t, const experiment::Assignment&) { return came_to(2); });
  for (const auto& [seed, best] : {std::pair(4, 3.0), std::pair(5, 1.0), std::pair(6, 2.0)})
    test::write_metrics(experiment::trial_folder(path_, 0) + "/seed-" + std::to_string(seed), {best});
  const json line = data()["curves"][0];
  EXPECT_EQ(line["seed"], 6);
  EXPECT_EQ(line["best"], json::array({2}));
}

TEST_F(SweepPageTest, HostileTextsAreTextsAndLongOnesAreCut) {
  const std::string choices = R"(init = ["</script><script>alert(1)</script>", "a\"b'<!--", "\\u003c"])";
  std::string text = test::sweep_text("trials = 3");
  text += choices + "\n";
  test::write_sweep(path_, text, [](std::size_t trial, const experiment::Assignment&) {
    return trial == 0   ? failed_with("</script><img src=x onerror=alert(1)> \xff\xfe")
           : trial == 1 ? failed_with(std::string(100'000, 'x'))
                        : came_to(1);
  });
  const SweepPage page = sweep_page(experiment::read_sweep_folder(path_));
  EXPECT_THAT(page.html, Not(HasSubstr("alert(1)<")));
  EXPECT_THAT(page.html, Not(HasSubstr("<img")));
  const json shown = data_of(page.html);
  EXPECT_EQ(shown["parameters"][6]["choices"][0], "</script><script>alert(1)</script>");
  EXPECT_EQ(shown["parameters"][6]["choices"][1], "a\"b'<!--");
  EXPECT_EQ(shown["trials"][0]["error"], "</script><img src=x onerror=alert(1)> \uFFFD\uFFFD");
  EXPECT_LT(shown["trials"][1]["error"].get<std::string>().size(), 3000U);
}

TEST_F(SweepPageTest, TellsARunningSweepFromAnInterruptedOneAndTouchesNeither) {
  const experiment::Sweep sweep = test::sweep_of(test::sweep_text("trials = 5"), {"run=" + path_});
  {
    const experiment::RunFolder made = experiment::RunFolder::create(path_, sweep.resolved());
    experiment::SweepRun run(sweep, path_ + "/record.jsonl");
    const experiment::Work first = *run.next();
    (void)run.next();
    run.end(first, came_to(1));
    const std::string before = read_file(path_ + "/record.jsonl");
    const json page = data();
    EXPECT_EQ(page["status"], "running");
    EXPECT_EQ(page["counts"], (json{{"finished", 1}, {"stopped", 0}, {"failed", 0}, {"running", 1}, {"waiting", 3}}));
    EXPECT_EQ(read_file(path_ + "/record.jsonl"), before);
    run.end(*run.next(), came_to(2));  // the record is still its own
  }
  const json page = data();
  EXPECT_EQ(page["status"], "interrupted");
  EXPECT_EQ(page["counts"], (json{{"finished", 2}, {"stopped", 0}, {"failed", 0}, {"running", 0}, {"waiting", 3}}));
  EXPECT_EQ(page["commands"][0]["command"], "emplace sweep --resume " + path_);
}

TEST_F(SweepPageTest, IsThereBeforeTheFirstTrialEndsAndWhereAllFail) {
  test::write_sweep(
      path_, test::sweep_text("trials = 3"), [](std::size_t, const experiment::Assignment&) { return std::nullopt; },
      0);
  json page = data();
  EXPECT_EQ(page["best"], json());
  EXPECT_EQ(page["counts"]["waiting"], 3);
  EXPECT_TRUE(page["curves"].empty());
  test::write_sweep(path_, test::sweep_text("trials = 3"),
                    [](std::size_t, const experiment::Assignment&) { return failed_with("no"); });
  page = data();
  EXPECT_EQ(page["best"], json());
  EXPECT_EQ(page["counts"]["failed"], 3);
}

TEST_F(SweepPageTest, DamagedFilesAreRefusedByFileAndLine) {
  const auto make = [&] {
    test::write_sweep(path_, test::sweep_text("trials = 2"),
                      [](std::size_t, const experiment::Assignment&) { return came_to(2); });
  };
  make();
  std::string record = read_file(path_ + "/record.jsonl");
  record.replace(record.find("\"objective\":2"), 13, "\"objective\":1");
  write_file(path_ + "/record.jsonl", record);
  EXPECT_THAT(refusal(), ::testing::AllOf(HasSubstr("record.jsonl:3"), HasSubstr("checksum")));
  make();
  const std::string metrics = experiment::trial_folder(path_, 1) + "/metrics.csv";
  write_file(metrics, "update,evaluations,best_step_time\n1,10,2\n2,20,two\n");
  EXPECT_THAT(refusal(), ::testing::AllOf(HasSubstr("metrics.csv:3"), HasSubstr("'best_step_time'"), HasSubstr("'two'"),
                                          HasSubstr("a number")));
  make();
  write_file(path_ + "/config.toml", "[space]\nlearner = 3\n");
  EXPECT_THAT(refusal(), HasSubstr("config.toml"));
}

TEST_F(SweepPageTest, TrialsOfAJobArrayAreTrainedOneByOne) {
  const experiment::Sweep sweep = test::sweep_of(test::sweep_text("trials = 4"), {"run=" + path_});
  make_folder(path_ + "/trials");
  write_file(path_ + "/config.toml", sweep.resolved().to_toml());
  for (const std::size_t trial : {std::size_t{1}, std::size_t{2}}) {
    experiment::SweepRun run(sweep, experiment::record_of_trial(path_, trial), trial);
    run.end(*run.next(), came_to(1.0 + static_cast<double>(trial)));
  }
  const json page = data();
  EXPECT_EQ(page["counts"], (json{{"finished", 2}, {"stopped", 0}, {"failed", 0}, {"running", 0}, {"waiting", 2}}));
  EXPECT_EQ(page["trials"][1]["ended"], json()) << "their records do not know of each other";
  EXPECT_EQ(page["commands"][0]["command"], "emplace sweep " + path_ + "/config.toml --trial 0");
}

}  // namespace
}  // namespace emplace::report::sweep_page_test
