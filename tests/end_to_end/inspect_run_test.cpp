// `emplace inspect` of a run folder and of a checkpoint: what was trained, how far, and the results.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "experiment/run/checkpoint.hpp"
#include "tests/end_to_end/systems.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::inspect_run_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class InspectRun : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(folder_ / "problem.json", example_problem);
    const auto done =
        emplace_run(systems()[1].training({"problem=" + (folder_ / "problem.json"), "updates=5", "run=" + run_}));
    ASSERT_EQ(done.exit_code, 0) << done.err;
  }
  static json inspected(const std::string& file) {
    const auto done = emplace_run({"inspect", file, "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out);
  }
  TemporaryFolder folder_;
  const std::string run_ = folder_ / "run";
};

TEST_F(InspectRun, SaysWhatWasTrainedHowFarAndWhatCameOfIt) {
  const json run = inspected(run_);
  EXPECT_EQ(run["kind"], "run");
  EXPECT_EQ(run["status"], "finished");
  EXPECT_EQ(run["policy"], "colocrl");
  EXPECT_EQ(run["learner"], "reinforce");
  ASSERT_EQ(run["problems"].size(), 1U);
  EXPECT_THAT(run["problems"][0].get<std::string>(), HasSubstr("problem.json"));
  EXPECT_EQ(run["devices"], 2);
  EXPECT_EQ(run["updates"], 5);
  EXPECT_EQ(run["evaluations"], 40) << "8 samples an update";
  const json placed =
      json::parse(emplace_run({"simulate", folder_ / "problem.json", run_ + "/best.placement.json", "--json"}).out);
  EXPECT_EQ(run["best"][0]["makespan_ps"], placed["makespan_ps"]);
  EXPECT_EQ(run["best"][0]["feasible"], true);
  std::size_t parameters = 0;
  for (const auto& [name, shape] : run["arrays"].items())
    if (name.starts_with("policy/")) parameters += shape[0].get<std::size_t>() * shape[1].get<std::size_t>();
  EXPECT_EQ(run["parameters"], parameters);
  // The output for a checkpoint is the same without the folder's status.
  json file = inspected(run_ + "/checkpoint.h5");
  EXPECT_EQ(file["kind"], "checkpoint");
  file["kind"] = "run";
  file["status"] = "finished";
  EXPECT_EQ(file, run);
}

TEST_F(InspectRun, ListsTheParametersByNameAndShape) {
  const auto done = emplace_run({"inspect", run_});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("policy colocrl, trained by reinforce for 2 devices: 5 updates, 40 evaluations"),
                    HasSubstr("problem.json: best "), HasSubstr("all digests and checksums are correct"),
                    HasSubstr("parameters of the policy"), HasSubstr("encoder/weight")));
}

TEST_F(InspectRun, RefusesADamagedCheckpointAndFallsBackToTheOneBeforeInAFolder) {
  std::string bytes = read_file(run_ + "/checkpoint.h5");
  write_file(run_ + "/checkpoint.previous.h5", bytes);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file(run_ + "/checkpoint.h5", bytes);
  const auto refused = emplace_run({"inspect", run_ + "/checkpoint.h5", "--json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("is damaged"));
  const auto folder = emplace_run({"inspect", run_, "--json"});
  EXPECT_EQ(folder.exit_code, 0);
  EXPECT_THAT(folder.err, AllOf(HasSubstr("is damaged"), HasSubstr("continuing from")));
  EXPECT_EQ(json::parse(folder.out)["updates"], 5);
}

TEST_F(InspectRun, ListsTheArraysOfARecipeThatThisProgramDoesNotKnow) {
  experiment::Checkpoint checkpoint = experiment::load_checkpoint(run_ + "/checkpoint.h5");
  std::string& config = checkpoint.attributes.at("config");
  config.replace(config.find("hidden"), 6, "hiiden");
  experiment::save_checkpoint(run_, checkpoint);
  const auto done = emplace_run({"inspect", run_});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.err, AllOf(HasSubstr("warning: "), HasSubstr("hiiden")));
  EXPECT_THAT(done.out, AllOf(HasSubstr("encoder/weight"), ::testing::Not(HasSubstr("policy colocrl"))));
  EXPECT_GT(inspected(run_)["parameters"], 100);
}

TEST_F(InspectRun, NamesAFileWhoseArraysAreOfNoTrainingAndPrintsNothingThatATerminalObeys) {
  experiment::Checkpoint checkpoint = experiment::load_checkpoint(run_ + "/checkpoint.h5");
  checkpoint.attributes["seed"] = "\x1b[2J";
  experiment::save_checkpoint(run_, checkpoint);
  const auto done = emplace_run({"inspect", run_});
  EXPECT_THAT(done.out, HasSubstr("seed: \\x1b[2J\n"));
  put(checkpoint.arrays, "trainer/best.0.outcome", std::vector<std::int64_t>{1, 0, 256, 0, 0});
  experiment::save_checkpoint(run_, checkpoint);
  const auto refused = emplace_run({"inspect", run_ + "/checkpoint.h5", "--json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr(run_ + "/checkpoint.h5: "), HasSubstr("unknown reason 256")));
}

TEST_F(InspectRun, RefusesOptionsOfModels) {
  const auto done = emplace_run({"inspect", run_, "--batch", "3"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, AllOf(HasSubstr("--batch"), HasSubstr(run_)));
}

}  // namespace
}  // namespace emplace::test::inspect_run_test
