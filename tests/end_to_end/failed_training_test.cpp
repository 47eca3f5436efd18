// A training that cannot continue ends with exit code 1 and one sentence, has the status `failed`, and keeps its last
// checkpoint.
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>

#include "base/files.hpp"
#include "experiment/run/checkpoint.hpp"
#include "tests/end_to_end/systems.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::failed_training_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string model = "zoo:nmt?layers=2&sequence=4&training=true@k40x2";

class FailedTraining : public ::testing::Test {
 protected:
  // Rewards of about 1e11 and the largest learning rate: the first step is about 1e16, after which logits overflow.
  // ColocRL's logits are sums of few bounded numbers, and its softmax is saturated by then, with a gradient of 0: there
  // a step is about 1e37, and momentum repeats it until the weights overflow.
  [[nodiscard]] std::vector<std::string> diverging(const System& system, const std::vector<std::string>& more) const {
    const bool is_bounded = system.name == std::string("colocrl");
    std::vector<std::string> arguments = system.training(
        {"problem=" + model, "grouping=chain", "groups=8", "learner=reinforce", "reinforce.reward=time",
         "reinforce.penalty_cap=0", is_bounded ? "reinforce.time_unit=1e-33" : "reinforce.time_unit=1e-12",
         "reinforce.optimizer=sgd", is_bounded ? "reinforce.momentum=0.99" : "reinforce.momentum=0",
         "reinforce.learning_rate=1000", "reinforce.clip_norm=0", "updates=100", "run=" + run_});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  // The update that a failing training names.
  static int named_update(const Finished& done) {
    std::smatch found;
    return std::regex_search(done.err, found, std::regex("error: update ([0-9]+): ")) ? std::stoi(found[1]) : 0;
  }
  static void expect_failure(const Finished& done, const ::testing::Matcher<std::string>& message) {
    EXPECT_EQ(done.exit_code, 1) << done.err;
    EXPECT_EQ(done.out, "");
    const auto at = done.err.find("error: ");
    ASSERT_NE(at, std::string::npos) << done.err;
    EXPECT_EQ(done.err.find("error: ", at + 1), std::string::npos) << "said once: " << done.err;
    EXPECT_THAT(done.err.substr(at), message);
  }
  TemporaryFolder folder_;
  const std::string run_ = folder_ / "run";
};

class DivergingTraining : public FailedTraining, public ::testing::WithParamInterface<System> {};

TEST_P(DivergingTraining, NamesTheUpdateThatIsNotFiniteAndTheCheckpointThatItKeeps) {
  const auto done = emplace_run(diverging(GetParam(), {"checkpoint_every=1", "--json"}));
  const int update = named_update(done);
  ASSERT_GE(update, 2) << done.err;
  const std::string named = "update " + std::to_string(update) + ": ", before = std::to_string(update - 1);
  expect_failure(done, AllOf(HasSubstr(named + "the network computes a logit of "), HasSubstr("learning rate"),
                             HasSubstr("the checkpoint of update " + before + " is kept in " + run_)));
  EXPECT_EQ(read_file(run_ + "/status"), "failed\n");
  EXPECT_EQ(experiment::load_checkpoint(run_ + "/checkpoint.h5").attributes.at("update"), before);
  EXPECT_THAT(read_file(run_ + "/log.txt"), HasSubstr(named));
  // A resumed training fails in the same update; the checkpoint is still that of the update before.
  const auto resumed = emplace_run({"train", "--resume", run_});
  expect_failure(resumed, AllOf(HasSubstr(named), HasSubstr("the checkpoint of update " + before + " is kept")));
  EXPECT_EQ(experiment::load_checkpoint(run_ + "/checkpoint.h5").attributes.at("update"), before);
  const auto placed = emplace_run({"place", "--policy", run_, model});
  expect_failure(placed, AllOf(HasSubstr(run_), HasSubstr("a logit of "), HasSubstr("its training diverged")));
}

TEST_P(DivergingTraining, EndsInTheSameWayWhereWorkersDrawAndLearn) {
  const auto alone = emplace_run(diverging(GetParam(), {"checkpoint_every=1", "--json"}));
  const std::string other = folder_ / "other";
  const auto shared =
      emplace_run(3, diverging(GetParam(), {"checkpoint_every=1", "--json", "workers=simulate+learn", "run=" + other}));
  ASSERT_GE(named_update(alone), 2) << alone.err;
  EXPECT_EQ(shared.exit_code, 1);
  EXPECT_EQ(named_update(shared), named_update(alone)) << shared.err;
  EXPECT_THAT(shared.err, HasSubstr("is kept in " + other));
  EXPECT_EQ(read_file(other + "/status"), "failed\n");
}

TEST_P(DivergingTraining, SaysSoWhereThereIsNoCheckpointYet) {
  const auto done = emplace_run(diverging(GetParam(), {"checkpoint_every=100", "--json"}));
  EXPECT_GE(named_update(done), 2);
  expect_failure(done, HasSubstr(run_ + " has no checkpoint yet"));
  EXPECT_EQ(read_file(run_ + "/status"), "failed\n");
  EXPECT_FALSE(file_exists(run_ + "/checkpoint.h5"));
}

INSTANTIATE_TEST_SUITE_P(Recipes, DivergingTraining,
                         ::testing::Values(systems()[1], systems()[2], systems()[3], systems()[4], systems()[5]),
                         name_of_system);

// Post's advantages are standardised, its probability ratios bounded by the smallest probability that is ever drawn,
// and it has no network: at the largest learning rate its table's logits are large, and finite.
TEST_F(FailedTraining, DoesNotHappenToPostAtTheLargestLearningRate) {
  for (const char* ratio : {"per_op", "joint"})
    for (const char* steps : {"both", "proximal"}) {
      const auto done = emplace_run(systems()[0].training(
          {"problem=" + model, "post.learning_rate=1000", std::string("post.ratio=") + ratio,
           std::string("post.steps=") + steps, "updates=30", "run=" + (folder_ / (ratio + std::string(steps)))}));
      EXPECT_EQ(done.exit_code, 0) << ratio << " " << steps << ": " << done.err;
    }
}

TEST_F(FailedTraining, EndsEveryRank) {
  const auto done = run(under_mpirun(3, command(diverging(systems()[2], {"checkpoint_every=1", "--json"}))),
                        std::chrono::seconds(30));
  EXPECT_FALSE(done.timed_out);
  expect_failure(done, HasSubstr("the checkpoint of update 1 is kept in " + run_));
  EXPECT_EQ(read_file(run_ + "/status"), "failed\n");
}

TEST_F(FailedTraining, OfAnyOtherKindSaysSoInItsFolderAndGoesOnOnceItCan) {
  const std::vector<std::string> arguments = {"train", "configs/recipes/post-published.toml", "problem=" + model,
                                              "evaluations=40", "run=" + run_};
  ASSERT_EQ(emplace_run(arguments).exit_code, 0);
  const std::string best = run_ + "/best.placement.json";
  std::filesystem::remove(best);
  std::filesystem::create_directories(best + "/in the way");
  expect_failure(emplace_run({"train", "--resume", run_, "evaluations=80", "--json"}), HasSubstr(best));
  EXPECT_EQ(read_file(run_ + "/status"), "failed\n");
  EXPECT_EQ(experiment::load_checkpoint(run_ + "/checkpoint.h5").attributes.at("update"), "2")
      << "40 evaluations of 20 an update";
  std::filesystem::remove_all(best);
  ASSERT_EQ(emplace_run({"train", "--resume", run_, "evaluations=80"}).exit_code, 0);
  EXPECT_EQ(read_file(run_ + "/status"), "finished\n");
}

// One error, and no line of the library that writes log.txt.
TEST_F(FailedTraining, OnAFullDiskSaysSoInOneLineOnly) {
  const std::string small = folder_ / "small";
  make_folder(small);
  const auto done =
      test::run({"unshare", "-m", "bash", "-c",
                 "mount -t tmpfs -o size=100k emplace " + small + " || exit 77; exec " + EMPLACE_PROGRAM +
                     " train configs/recipes/colocrl-published.toml 'problem=" + model +
                     "' compare=[] checkpoint_every=1 updates=50 colocrl.hidden=8 --json run=" + small + "/run"});
  if (done.exit_code == 77 || done.err.find("unshare failed") != std::string::npos)
    GTEST_SKIP() << "this user may not mount";
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.err, HasSubstr("No space left on device"));
  EXPECT_THAT(done.err, ::testing::Not(HasSubstr("LOG ERROR")));
  std::size_t errors = 0;
  for (std::size_t at = done.err.find("error: "); at != std::string::npos; at = done.err.find("error: ", at + 1))
    ++errors;
  EXPECT_EQ(errors, 1U) << done.err;
}

TEST_F(FailedTraining, LeavesAFinishedRunAloneWhenResumingIsRefused) {
  const std::vector<std::string> arguments = {"train", "configs/recipes/post-published.toml", "problem=" + model,
                                              "evaluations=40", "run=" + run_};
  ASSERT_EQ(emplace_run(arguments).exit_code, 0);
  EXPECT_EQ(emplace_run({"train", "--resume", run_, "evaluations=3"}).exit_code, 2) << "less than one update";
  EXPECT_EQ(read_file(run_ + "/status"), "finished\n");
  // An invalid budget ends the program before it makes a folder.
  std::vector<std::string> other = arguments;
  other[3] = "evaluations=3";
  other[4] = "run=" + (folder_ / "other");
  EXPECT_EQ(emplace_run(other).exit_code, 2);
  EXPECT_FALSE(file_exists(folder_ / "other"));
}

}  // namespace
}  // namespace emplace::test::failed_training_test
