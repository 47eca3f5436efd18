// Trained policies are used again: `place --policy RUN` and `train --init RUN`.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/files.hpp"
#include "tests/end_to_end/bits.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::trained_policy_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TrainedPolicies : public ::testing::Test {
 protected:
  std::string trained(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"train", "configs/recipes/post-published.toml",
                                          "problem=" + small_training + "@k40x2", "evaluations=400",
                                          "run=" + (folder_ / name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = emplace_run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return folder_ / name;
  }
  static json placed(int ranks, const std::string& run, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"place", "--policy", run, small_training + "@k40x2", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = emplace_run(ranks, arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out);
  }
  TemporaryFolder folder_;
};

TEST_F(TrainedPolicies, PlaceTheirLikeliestPlacementAndWithABudgetTheBestOfSamplesToo) {
  const std::string run = trained("run");
  const json likeliest = placed(1, run);
  EXPECT_EQ(likeliest.at("method"), "post");
  EXPECT_EQ(likeliest.at("evaluations"), 1);
  const json best = placed(1, run, {"--evaluations", "120"});
  EXPECT_EQ(best.at("evaluations"), 120);
  EXPECT_LT(best.at("makespan_ps"), likeliest.at("makespan_ps")) << "119 samples of a young policy find something";
  const json over_ranks = placed(3, run, {"--evaluations", "120"});
  EXPECT_EQ(over_ranks.at("ops"), best.at("ops"));

  const auto told = [&](std::vector<std::string> budget) {
    std::vector<std::string> arguments = {"place", "--policy", run, small_training + "@k40x2"};
    arguments.insert(arguments.end(), budget.begin(), budget.end());
    return emplace_run(arguments).out;
  };
  EXPECT_THAT(told({}), HasSubstr("most probable placement; --evaluations 500 also samples others"));
  EXPECT_THAT(told({"--evaluations", "2"}), Not(HasSubstr("most probable")));
}

TEST_F(TrainedPolicies, GoOnFromTheirParametersInANewRun) {
  const std::string run = trained("run");
  const json before = placed(1, run);
  // A rate too small to change anything: the parameters of the first run are those of the second.
  const std::string next = trained("next", {"--init", run, "evaluations=21", "post.learning_rate=1e-30"});
  EXPECT_EQ(placed(1, next).at("ops"), before.at("ops"));
  // The new run does not need the old one: it is resumed without it.
  replace_file(run, run + ".elsewhere");
  const auto resumed = emplace_run({"train", "--resume", next, "evaluations=41"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

TEST_F(TrainedPolicies, GiveARunTheirOwnPlacementAsItsFirstBest) {
  const std::string run = trained("run", {"evaluations=4000"});
  const json before = placed(1, run);
  // One update of samples that are far from good: the policy that goes on is bound to the problem and samples coarsely.
  const auto done = emplace_run({"train", "configs/recipes/post-published.toml", "problem=" + small_training + "@k40x2",
                                 "--init", run, "updates=1", "run=" + (folder_ / "next"), "compare=[]", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json after = json::parse(done.out);
  EXPECT_LE(after.at("makespan_ps"), before.at("makespan_ps"));
  EXPECT_EQ(after.at("evaluations"), 21) << "one of the start, 20 of the update";
  const auto refused =
      emplace_run({"train", "configs/recipes/post-published.toml", "problem=" + small_training + "@k40x2", "--init",
                   run, "evaluations=20", "run=" + (folder_ / "short")});
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("the budget of 20 evaluations is less than the 21"));
}

TEST_F(TrainedPolicies, AreWhatARunBeginsWithThatWasKilledBeforeItsFirstCheckpoint) {
  const std::string run = trained("run"), whole = trained("whole", {"--init", run});
  for (const char* again : {"--resume", "--continue"}) {
    const std::string killed = trained(std::string("killed") + again, {"--init", run});
    for (const char* name : {"/checkpoint.h5", "/checkpoint.previous.h5"}) std::filesystem::remove(killed + name);
    write_file(killed + "/status", "running\n");
    if (again == std::string("--resume"))
      EXPECT_EQ(emplace_run({"train", "--resume", killed}).exit_code, 0);
    else
      (void)trained("killed--continue", {"--init", run, "--continue"});
    EXPECT_EQ(without_clocks(killed), without_clocks(whole)) << again;
    EXPECT_FALSE(file_exists(killed + ".1")) << "it is the same run";
  }
}

TEST_F(TrainedPolicies, AreRefusedForOtherDevicesOtherGraphsAndOtherPolicies) {
  const std::string run = trained("run");
  expect_refused({"place", "--policy", run, small_training + "@k40x4"},
                 AllOf(HasSubstr("trained for 3 devices"), HasSubstr("has 5")));
  expect_refused({"place", "--policy", run, "zoo:nmt?layers=2&sequence=5&training=true@k40x2"},
                 AllOf(HasSubstr("policy/logits is"), HasSubstr("wanted")));
  expect_refused(
      {"train", "configs/recipes/post-published.toml", "problem=" + small_training + "@k40x4", "--init", run},
      HasSubstr("trained for 3 devices"));
  expect_refused({"place", "--policy", folder_ / "nowhere", small_training + "@k40x2"},
                 HasSubstr("nowhere: is not a run folder"));
  expect_refused({"place", "--policy", run, "heft", small_training + "@k40x2"},
                 HasSubstr("--policy replaces the method"));
  expect_refused({"place", "--policy", run}, HasSubstr("a problem is missing"));
  expect_refused({"place", "heft"}, HasSubstr("a problem is missing"));
  expect_refused({"place"}, HasSubstr("a placer is missing"));
  expect_refused({"train", "--resume", run, "--init", run}, HasSubstr("--init is for a new run"));
}

TEST_F(TrainedPolicies, AreRefusedWhenTheirCheckpointIsDamaged) {
  const std::string run = trained("run");
  for (const char* name : {"/checkpoint.h5", "/checkpoint.previous.h5"}) {
    std::string bytes = read_file(run + name);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write_file(run + name, bytes);
  }
  expect_refused({"place", "--policy", run, small_training + "@k40x2"}, HasSubstr("checkpoint.h5"));
}

}  // namespace
}  // namespace emplace::test::trained_policy_test
