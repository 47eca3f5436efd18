// A training on several problems that also places problems which it never trains on: `problems_per_update`, `held_out`.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include "base/files.hpp"
#include "experiment/run/checkpoint.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/end_to_end/systems.hpp"
#include "tests/end_to_end/three_problems.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::across_graphs_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string fourth = "zoo:nmt?layers=2&sequence=2&training=true@k40x2";

std::string list(const std::string& key, const std::vector<std::string>& sources) {
  std::string text = key + "=[";
  for (const std::string& source : sources) text += (&source == &sources.front() ? "\"" : ", \"") + source + "\"";
  return text + "]";
}

// metrics.csv by column; an empty cell is NaN.
std::map<std::string, std::vector<double>> metrics(const std::string& run) {
  std::istringstream text(read_file(run + "/metrics.csv"));
  std::vector<std::string> names;
  std::map<std::string, std::vector<double>> columns;
  for (std::string line; std::getline(text, line);) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    if (names.empty()) {
      names = row;
      continue;
    }
    for (std::size_t i = 0; i < row.size(); ++i)
      columns[names[i]].push_back(row[i].empty() ? std::nan("") : std::stod(row[i]));
  }
  return columns;
}

class AcrossGraphs : public ::testing::TestWithParam<System> {
 protected:
  [[nodiscard]] std::vector<std::string> training(const std::string& run, const std::vector<std::string>& more) const {
    auto arguments = GetParam().training(
        {list("problems", {first, second}), "grouping=chain", "groups=12", "run=" + (folder_ / run), "--json"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  [[nodiscard]] std::string folder(const std::string& run) const { return folder_ / run; }

  TemporaryFolder folder_;
};

TEST_P(AcrossGraphs, HeldOutProblemsArePlacedAsByTheRunsPolicyAfterwards) {
  const auto done =
      emplace_run(2, training("run", {list("held_out", {third, fourth}), "held_out_every=3", "updates=6", "seed=5"}));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json results = json::parse(done.out);
  ASSERT_EQ(results.size(), 4U) << "two problems, then the two that are held out";
  auto columns = metrics(folder("run"));
  const std::string held_out[] = {third, fourth};
  for (std::size_t p = 0; p < 2; ++p) {
    const std::vector<double>& seconds = columns["held_out_step_time." + std::to_string(p)];
    ASSERT_EQ(seconds.size(), 6U);
    for (std::size_t update = 1; update <= 6; ++update)
      EXPECT_EQ(std::isnan(seconds[update - 1]), update % 3 != 0) << update;
    const auto placed = emplace_run({"place", "--policy", folder("run"), held_out[p], "--seed", "5", "--json"});
    ASSERT_EQ(placed.exit_code, 0) << placed.err;
    const json placement = json::parse(placed.out);
    EXPECT_EQ(placement["makespan_s"].get<double>(), seconds[5]);
    EXPECT_TRUE(placement["ops"] == results[2 + p]["ops"]);
    EXPECT_EQ(placement["evaluations"], results[2 + p]["evaluations"]);
    EXPECT_EQ(results[2 + p]["held_out"], true);
    EXPECT_FALSE(results[p].contains("held_out"));
  }
}

TEST_P(AcrossGraphs, HeldOutProblemsChangeNothingButTheNumberOfEvaluations) {
  ASSERT_EQ(emplace_run(training("without", {"updates=5"})).exit_code, 0);
  ASSERT_EQ(emplace_run(training("with", {list("held_out", {third}), "held_out_every=2", "updates=5"})).exit_code, 0);
  const State without = experiment::load_newest_checkpoint(folder("without")).arrays;
  const State with = experiment::load_newest_checkpoint(folder("with")).arrays;
  std::size_t parameters = 0;
  for (const auto& [name, array] : without)
    if (name.starts_with("policy/") || name.starts_with("optimizer/")) {
      EXPECT_EQ(with.at(name), array) << name;
      ++parameters;
    }
  EXPECT_GT(parameters, 0U);
  EXPECT_EQ(metrics(folder("with"))["mean_reward"], metrics(folder("without"))["mean_reward"]);
  EXPECT_GT(metrics(folder("with"))["evaluations"].back(), metrics(folder("without"))["evaluations"].back());
}

TEST_P(AcrossGraphs, ABudgetOfEvaluationsEndsBeforeTheUpdateThatWouldPassIt) {
  // Seven updates, with what they cost; then the same with exactly that budget, with one less, and with one more.
  const std::vector<std::string> common = {list("problems", {first, second, third}), list("held_out", {fourth}),
                                           "held_out_every=3", "problems_per_update=2"};
  const auto with = [&](const std::string& run, const std::string& budget) {
    auto more = common;
    more.push_back(budget);
    const auto done = emplace_run(training(run, more));
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return metrics(folder(run))["evaluations"];
  };
  const std::vector<double> seven = with("seven", "updates=7");
  const auto spent = static_cast<int>(seven.back());
  EXPECT_EQ(with("exact", "evaluations=" + std::to_string(spent)), seven);
  EXPECT_EQ(with("less", "evaluations=" + std::to_string(spent - 1)).size(), 6U);
  EXPECT_EQ(with("more", "evaluations=" + std::to_string(spent + 1)), seven);
}

TEST_P(AcrossGraphs, AHeldOutProblemThatIsTrainedOnIsRefusedUnderAnyName) {
  expect_refused(training("run", {list("held_out", {third, second})}),
                 AllOf(HasSubstr("'" + second + "' is held out"), HasSubstr("the same problem: '" + second + "'")));
  // A problem file under two names, beside a problem of as many devices.
  write_file(folder_ / "a.json", example_problem);
  std::string copy = example_problem;
  copy.replace(copy.find("two-device chain"), 16, "something else");
  write_file(folder_ / "b.json", copy);
  expect_refused(training("run", {"problems=[\"" + (folder_ / "a.json") + "\"]", list("held_out", {folder_ / "b.json"}),
                                  "groups=2"}),
                 AllOf(HasSubstr("b.json' is held out"), HasSubstr("a.json'")));
  EXPECT_FALSE(file_exists(folder("run"))) << "refused before the run begins";
}

TEST_P(AcrossGraphs, AHeldOutProblemOnOtherDevicesIsRefused) {
  expect_refused(training("run", {list("held_out", {small_training + "@k40x4"})}),
                 AllOf(HasSubstr("have 3 devices"), HasSubstr("which is held out, has 5")));
}

INSTANTIATE_TEST_SUITE_P(Recipes, AcrossGraphs,
                         ::testing::Values(systems()[2], systems()[3], systems()[4], systems()[5]), name_of_system);

TEST(AcrossGraphsByColocrl, AHeldOutProblemOfAnotherSizeIsRefused) {
  TemporaryFolder folder;
  expect_refused(systems()[1].training({"problem=" + first, list("held_out", {third}), "run=" + (folder / "run")}),
                 AllOf(HasSubstr("policy 'colocrl' is bound to the size of its problems"), HasSubstr("inception-v3")));
}

TEST(AcrossGraphsByHierarchical, AProblemThatNoUpdateWasAboutIsNullInTheResult) {
  TemporaryFolder folder;
  const auto done =
      emplace_run(systems()[2].training({list("problems", {first, second}), "grouping=chain", "groups=12", "updates=1",
                                         "problems_per_update=1", "run=" + (folder / "run"), "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json results = json::parse(done.out);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_NE(results[0].is_null(), results[1].is_null());
  EXPECT_THAT(done.err, HasSubstr("warning: no update trained on "));
}

}  // namespace
}  // namespace emplace::test::across_graphs_test
