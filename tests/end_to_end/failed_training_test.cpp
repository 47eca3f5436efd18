// A training that cannot go on ends with 1 and one sentence, says so in its folder, and keeps its last checkpoint.
#include <gmock/gmock.h>

#include <filesystem>

#include "emplace/base/files.hpp"
#include "emplace/run/checkpoint.hpp"
#include "program.hpp"
#include "support/temporary_folder.hpp"

namespace emplace::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string model = "zoo:nmt?layers=2&sequence=4&training=true@k40x2";

class FailedTraining : public testing::Test {
 protected:
  // Rewards of about 1e11 and the largest learning rate: the first step is one of 1e16, after which logits overflow.
  std::vector<std::string> diverging(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"train",
                                          "configs/recipes/hierarchical.toml",
                                          "problem=" + model,
                                          "grouping=chain",
                                          "groups=8",
                                          "hierarchical.hidden=8",
                                          "reinforce.reward=time",
                                          "reinforce.time_unit=1e-12",
                                          "reinforce.optimizer=sgd",
                                          "reinforce.learning_rate=1000",
                                          "reinforce.clip_norm=0",
                                          "updates=30",
                                          "run=" + run_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  static void expect_failure(const Finished& done, const testing::Matcher<std::string>& message) {
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

TEST_F(FailedTraining, NamesTheUpdateThatIsNotFiniteAndTheCheckpointThatItKeeps) {
  const auto done = emplace_run(diverging({"checkpoint_every=1", "--json"}));
  expect_failure(done, AllOf(HasSubstr("update 2: the network puts out a logit of "), HasSubstr("learning rate"),
                             HasSubstr("the checkpoint of update 1 is kept in " + run_)));
  EXPECT_EQ(read_file(run_ + "/status"), "failed\n");
  EXPECT_EQ(load_checkpoint(run_ + "/checkpoint.h5").attributes.at("update"), "1");
  EXPECT_THAT(read_file(run_ + "/log.txt"), HasSubstr("update 2: "));
  // Going on ends in the same update; the checkpoint is still that of update 1.
  const auto resumed = emplace_run({"train", "--resume", run_});
  expect_failure(resumed, AllOf(HasSubstr("update 2: "), HasSubstr("the checkpoint of update 1 is kept")));
  EXPECT_EQ(load_checkpoint(run_ + "/checkpoint.h5").attributes.at("update"), "1");
  const auto placed = emplace_run({"place", "--policy", run_, model});
  expect_failure(placed, AllOf(HasSubstr(run_), HasSubstr("a logit of "), HasSubstr("its training diverged")));
}

TEST_F(FailedTraining, SaysSoWhereThereIsNoCheckpointYet) {
  const auto done = emplace_run(diverging({"--json"}));
  expect_failure(done, AllOf(HasSubstr("update 2: "), HasSubstr(run_ + " has no checkpoint yet")));
  EXPECT_EQ(read_file(run_ + "/status"), "failed\n");
  EXPECT_FALSE(file_exists(run_ + "/checkpoint.h5"));
}

TEST_F(FailedTraining, EndsEveryRank) {
  const auto done =
      run(under_mpirun(3, command(diverging({"checkpoint_every=1", "--json"}))), std::chrono::seconds(30));
  EXPECT_FALSE(done.timed_out);
  expect_failure(done, HasSubstr("the checkpoint of update 1 is kept in " + run_));
  EXPECT_EQ(read_file(run_ + "/status"), "failed\n");
}

TEST_F(FailedTraining, OfAnyOtherKindSaysSoInItsFolderAndGoesOnOnceItCan) {
  const std::vector<std::string> arguments = {"train", "configs/recipes/post.toml", "problem=" + model,
                                              "evaluations=40", "run=" + run_};
  ASSERT_EQ(emplace_run(arguments).exit_code, 0);
  const std::string best = run_ + "/best.placement.json";
  std::filesystem::remove(best);
  std::filesystem::create_directories(best + "/in the way");
  expect_failure(emplace_run({"train", "--resume", run_, "evaluations=80", "--json"}), HasSubstr(best));
  EXPECT_EQ(read_file(run_ + "/status"), "failed\n");
  EXPECT_EQ(load_checkpoint(run_ + "/checkpoint.h5").attributes.at("update"), "2") << "40 evaluations of 20 an update";
  std::filesystem::remove_all(best);
  ASSERT_EQ(emplace_run({"train", "--resume", run_, "evaluations=80"}).exit_code, 0);
  EXPECT_EQ(read_file(run_ + "/status"), "finished\n");
}

TEST_F(FailedTraining, LeavesAFinishedRunAloneWhenResumingIsRefused) {
  const std::vector<std::string> arguments = {"train", "configs/recipes/post.toml", "problem=" + model,
                                              "evaluations=40", "run=" + run_};
  ASSERT_EQ(emplace_run(arguments).exit_code, 0);
  EXPECT_EQ(emplace_run({"train", "--resume", run_, "evaluations=3"}).exit_code, 2) << "less than one update";
  EXPECT_EQ(read_file(run_ + "/status"), "finished\n");
  // A budget that is none stops the program before it makes a folder.
  std::vector<std::string> other = arguments;
  other[3] = "evaluations=3";
  other[4] = "run=" + (folder_ / "other");
  EXPECT_EQ(emplace_run(other).exit_code, 2);
  EXPECT_FALSE(file_exists(folder_ / "other"));
}

}  // namespace
}  // namespace emplace::test
