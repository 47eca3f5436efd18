// One policy trained on several problems, and its placement of another problem: `problems = [...]`.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "experiment/run/checkpoint.hpp"
#include "tests/end_to_end/bits.hpp"
#include "tests/end_to_end/systems.hpp"
#include "tests/end_to_end/three_problems.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::several_problems_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class SeveralProblems : public ::testing::TestWithParam<System> {
 protected:
  [[nodiscard]] Finished train(int ranks, const std::string& run, const std::vector<std::string>& more = {}) const {
    auto arguments = GetParam().training({"problems=[\"" + first + "\", \"" + second + "\"]", "grouping=chain",
                                          "groups=12", "updates=6", "run=" + (folder_ / run), "--json"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return emplace_run(ranks, arguments);
  }
  static json simulated(const std::string& problem, const std::string& placement) {
    const auto done = emplace_run({"simulate", problem, placement, "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out);
  }
  static Finished placed(const std::string& run, const std::string& problem, const std::string& file) {
    const auto done = emplace_run({"place", "--policy", run, problem, "--json", "-o", file});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done;
  }
  TemporaryFolder folder_;
};

TEST_P(SeveralProblems, AreTrainedTogetherAndEachHasItsBestPlacement) {
  const auto done = train(2, "run");
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json results = json::parse(done.out);
  ASSERT_EQ(results.size(), 2U);
  const std::string run = folder_ / "run";
  EXPECT_FALSE(file_exists(run + "/best.placement.json"));
  const std::string problems[] = {first, second};
  for (std::size_t p = 0; p < 2; ++p) {
    const json again = simulated(problems[p], run + "/best." + std::to_string(p) + ".placement.json");
    EXPECT_EQ(again["makespan_ps"], results[p]["makespan_ps"]) << p;
  }
  EXPECT_NE(results[0]["ops"].size(), results[1]["ops"].size());
  // Resumed, both best placements are still there: one more update makes neither worse.
  const auto resumed = emplace_run({"train", "--resume", run, "updates=7", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  for (std::size_t p = 0; p < 2; ++p)
    EXPECT_LE(json::parse(resumed.out)[p]["makespan_ps"], results[p]["makespan_ps"]) << p;
}

TEST_P(SeveralProblems, TeachAPolicyThatPlacesOneItNeverSawAndSaysWhatIsNewToIt) {
  ASSERT_EQ(train(1, "run").exit_code, 0);
  const std::string run = folder_ / "run";
  const std::string file = folder_ / "placement.json";
  EXPECT_EQ(placed(run, second, file).err, "") << "nothing is new";
  const auto done = placed(run, third, file);
  EXPECT_EQ(simulated(third, file)["makespan_ps"], json::parse(done.out)["makespan_ps"]);
  if (std::string(GetParam().name) == "placeto")
    EXPECT_EQ(done.err, "") << "its network reads no types";
  else
    EXPECT_THAT(done.err, AllOf(HasSubstr("warning: " + run), HasSubstr("ops of types that the policy never saw: "),
                                HasSubstr("'Conv' (")));
}

TEST_P(SeveralProblems, GiveParametersFromWhichATrainingOnAThirdGoesOn) {
  ASSERT_EQ(train(1, "run").exit_code, 0);
  const std::string rate = std::string(GetParam().learner) + ".learning_rate";
  const auto next =
      emplace_run(GetParam().training({"problem=" + third, "grouping=chain", "groups=12", "updates=1", rate + "=1e-30",
                                       rate + "_end=1e-30", "run=" + (folder_ / "next"), "--init", folder_ / "run"}));
  ASSERT_EQ(next.exit_code, 0) << next.err;
  // Steps too small to change anything: at most 1e-30 from where the other run ended.
  const State before = experiment::load_newest_checkpoint(folder_ / "run").arrays;
  for (const auto& [name, array] : experiment::load_newest_checkpoint(folder_ / "next").arrays) {
    if (!name.starts_with("policy/")) continue;
    const auto& now = std::get<std::vector<float>>(array.data);
    const auto& then = get<float>(before, name, now.size());
    for (std::size_t i = 0; i < now.size(); ++i) EXPECT_NEAR(now[i], then[i], 1e-20) << name;
  }
}

// The placement with which a fine-tuning starts is its first best one: it never ends worse than it began.
TEST_P(SeveralProblems, GiveATrainingOnAThirdItsFirstPlacementForAnyNumberOfRanks) {
  ASSERT_EQ(train(1, "run").exit_code, 0);
  const std::string run = folder_ / "run";
  const json start = json::parse(placed(run, third, folder_ / "start.json").out);
  const auto tune = [&](int ranks, const std::string& name) {
    const auto done = emplace_run(
        ranks, GetParam().training({"problem=" + third, "grouping=chain", "groups=12", "updates=2",
                                    "workers=simulate+learn", "run=" + (folder_ / name), "--init", run, "--json"}));
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out);
  };
  const json tuned = tune(1, "alone");
  EXPECT_LE(tuned.at("makespan_ps"), start.at("makespan_ps"));
  EXPECT_EQ(tune(3, "shared").at("ops"), tuned.at("ops"));
  EXPECT_EQ(without_clocks(folder_ / "shared"), without_clocks(folder_ / "alone"));
  const State arrays = experiment::load_newest_checkpoint(folder_ / "alone").arrays;
  const auto& evaluations = get<double>(arrays, "history/evaluations");
  const auto of_an_update = evaluations[1] - evaluations[0];
  EXPECT_GE(evaluations[0] - of_an_update, start.at("evaluations").get<double>()) << "those of the start are counted";
}

TEST_P(SeveralProblems, GiveParametersToATrainingOnFewerUnits) {
  ASSERT_EQ(train(1, "run").exit_code, 0);
  const auto next = emplace_run(GetParam().training({"problem=" + third, "grouping=chain", "groups=7", "updates=1",
                                                     "run=" + (folder_ / "next"), "--init", folder_ / "run"}));
  EXPECT_EQ(next.exit_code, 0) << next.err;
  const auto resumed = emplace_run({"train", "--resume", folder_ / "next", "updates=2"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

INSTANTIATE_TEST_SUITE_P(Recipes, SeveralProblems,
                         ::testing::Values(systems()[2], systems()[3], systems()[4], systems()[5]), name_of_system);

}  // namespace
}  // namespace emplace::test::several_problems_test
