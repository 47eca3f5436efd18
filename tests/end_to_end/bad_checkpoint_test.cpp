// Checkpoints that are not damaged but do not fit the run: `place --policy`, `train --init` and `train --resume` refuse
// them with one sentence that names the run, and a refused run stays as it was.
#include <gmock/gmock.h>
#include <hdf5.h>

#include <filesystem>
#include <functional>
#include <limits>

#include "base/files.hpp"
#include "experiment/run/checkpoint_image.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::bad_checkpoint_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string small = "colocrl.hidden=8";

class BadCheckpoint : public ::testing::Test {
 protected:
  void SetUp() override { write_file(problem_, example_problem); }

  std::vector<std::string> training(const std::string& policy, const std::string& name,
                                    const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"train",          "configs/recipes/" + policy + "-published.toml",
                                          "compare=[]",     "problem=" + problem_,
                                          "evaluations=40", "run=" + (folder_ / name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::string trained(const std::string& policy, const std::string& name,
                      const std::vector<std::string>& more = {}) const {
    const auto done = emplace_run(training(policy, name, more));
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return folder_ / name;
  }
  static experiment::Checkpoint newest(const std::string& run) {
    return experiment::load_checkpoint(run + "/checkpoint.h5");
  }
  // Writes a checkpoint with valid seal and digest, whose content save_checkpoint() may refuse.
  static void replace_checkpoint(const std::string& run, const std::string& image) {
    std::filesystem::remove(run + "/checkpoint.previous.h5");
    write_file(run + "/checkpoint.h5", experiment::sealed(image));
  }

  // The run is one of ColocRL.
  void expect_refused_everywhere(const std::string& run, const ::testing::Matcher<std::string>& message) const {
    const std::string before = read_file(run + "/checkpoint.h5");
    const auto names_it = AllOf(HasSubstr(run), message);
    expect_refused({"place", "--policy", run, problem_}, names_it);
    expect_refused(training("colocrl", "next", {small, "--init", run}), names_it);
    expect_refused({"train", "--resume", run, "evaluations=80"}, names_it);
    EXPECT_EQ(read_file(run + "/checkpoint.h5"), before);
    EXPECT_EQ(read_file(run + "/status"), "finished\n");
    EXPECT_FALSE(file_exists(folder_ / "next"));
  }
  TemporaryFolder folder_;
  const std::string problem_ = folder_ / "problem.json";
};

TEST_F(BadCheckpoint, WithTheParametersOfAnotherPolicy) {
  const std::string run = trained("colocrl", "run", {small});
  experiment::Checkpoint mixed = newest(run);
  const experiment::Checkpoint other = newest(trained("post", "other"));
  std::erase_if(mixed.arrays, [](const auto& array) { return array.first.starts_with("policy/"); });
  mixed.arrays["policy/logits"] = other.arrays.at("policy/logits");
  replace_checkpoint(run, experiment::checkpoint_image(mixed));
  expect_refused_everywhere(run, AllOf(HasSubstr("policy/"), HasSubstr("of another policy")));
}

TEST_F(BadCheckpoint, OfAnotherPolicyThanTheRunOrTheRecipe) {
  const std::string run = trained("colocrl", "run", {small});
  const std::string other = trained("hierarchical", "other", {"hierarchical.hidden=8"});
  expect_refused(training("colocrl", "next", {"--init", other}),
                 AllOf(HasSubstr(other), HasSubstr("its policy is hierarchical, the recipe's is colocrl")));
  replace_checkpoint(run, experiment::checkpoint_image(newest(other)));
  expect_refused({"train", "--resume", run, "evaluations=80"},
                 AllOf(HasSubstr(run), HasSubstr("another configuration than its config.toml"),
                       HasSubstr("'colocrl.aligned' is none there, 'false' here")));
}

TEST_F(BadCheckpoint, OfAnotherHiddenSize) {
  const std::string run = trained("colocrl", "run", {small});
  const std::string wide = trained("colocrl", "wide", {"colocrl.hidden=16"});
  const auto sizes = AllOf(HasSubstr("policy/"), HasSubstr(" is "), HasSubstr(", wanted "), HasSubstr(" x "));
  expect_refused(training("colocrl", "next", {small, "--init", wide}), AllOf(HasSubstr(wide), sizes));
  experiment::Checkpoint mixed = newest(run);
  for (const auto& [name, array] : newest(wide).arrays)
    if (name.starts_with("policy/")) mixed.arrays[name] = array;
  replace_checkpoint(run, experiment::checkpoint_image(mixed));
  const std::string before = read_file(run + "/checkpoint.h5");
  expect_refused({"place", "--policy", run, problem_}, AllOf(HasSubstr(run), sizes));
  expect_refused({"train", "--resume", run, "evaluations=80"}, AllOf(HasSubstr(run), sizes));
  EXPECT_EQ(read_file(run + "/checkpoint.h5"), before);
}

TEST_F(BadCheckpoint, OfAnotherVersion) {
  const std::string run = trained("colocrl", "run", {small});
  const std::string file = folder_ / "of another version.h5";
  write_file(file, experiment::checkpoint_image(newest(run)));
  const hid_t opened = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t format = H5Aopen(opened, experiment::format_attribute, H5P_DEFAULT);
  const hid_t type = H5Aget_type(format);
  EXPECT_GE(H5Awrite(format, type, "checkpoint/9"), 0);
  H5Tclose(type);
  H5Aclose(format);
  ASSERT_GE(H5Fclose(opened), 0);
  replace_checkpoint(run, read_file(file));
  expect_refused_everywhere(run, HasSubstr("has format 'checkpoint/9', this program reads 'checkpoint/1'"));
}

TEST_F(BadCheckpoint, WhoseDamageIsSealedIn) {
  const std::string run = trained("colocrl", "run", {small});
  std::string image = experiment::checkpoint_image(newest(run));
  image[image.find(experiment::checkpoint_format)] = 'C';  // HDF5 also has a checksum over attributes
  replace_checkpoint(run, image);
  expect_refused_everywhere(run, HasSubstr("is damaged: HDF5 could not"));
}

TEST_F(BadCheckpoint, WithParametersThatAreNoNumbers) {
  const std::string run = trained("colocrl", "run", {small});
  const experiment::Checkpoint good = newest(run);
  const auto first = good.arrays.lower_bound("policy/");
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    experiment::Checkpoint bad = good;
    std::get<std::vector<float>>(bad.arrays.at(first->first).data).back() = value;
    replace_checkpoint(run, experiment::checkpoint_image(bad));
    expect_refused_everywhere(
        run, AllOf(HasSubstr(first->first),
                   HasSubstr(std::isnan(value) ? "is not a number" : "holds inf where a finite number is wanted")));
  }
}

TEST_F(BadCheckpoint, WhoseConfigurationThisProgramDoesNotKnow) {
  const std::string run = trained("colocrl", "run", {small});
  const experiment::Checkpoint good = newest(run);
  for (const auto& [from, to] :
       std::map<std::string, std::string>{{"hidden", "hiden"}, {"\"colocrl\"", "\"colocr\""}}) {
    experiment::Checkpoint bad = good;
    std::string& config = bad.attributes.at("config");
    const std::size_t at = config.find(from);
    ASSERT_NE(at, std::string::npos) << config;
    config.replace(at, from.size(), to);
    replace_checkpoint(run, experiment::checkpoint_image(bad));
    expect_refused({"place", "--policy", run, problem_}, AllOf(HasSubstr(run), HasSubstr("did you mean")));
  }
  experiment::Checkpoint none = good;
  none.attributes.erase("config");
  replace_checkpoint(run, experiment::checkpoint_image(none));
  expect_refused_everywhere(run, HasSubstr("attribute 'config' of "));
}

TEST_F(BadCheckpoint, WhoseLearnerTrainerOrHistoryIsOfNoTraining) {
  const std::string run = trained("colocrl", "run", {small});
  const experiment::Checkpoint good = newest(run);
  const auto expect_resuming_refused = [&](const std::string& what, const std::function<void(State&)>& change) {
    SCOPED_TRACE(what);
    experiment::Checkpoint bad = good;
    change(bad.arrays);
    replace_checkpoint(run, experiment::checkpoint_image(bad));
    expect_refused({"train", "--resume", run, "evaluations=80"}, AllOf(HasSubstr(run), HasSubstr(what)));
    EXPECT_EQ(read_file(run + "/status"), "finished\n");
  };
  expect_resuming_refused("array slowest_time is missing", [](State& arrays) { arrays.erase("learner/slowest_time"); });
  expect_resuming_refused("array first has",
                          [](State& arrays) { put(arrays, "optimizer/first", std::vector<float>{1}); });
  expect_resuming_refused("array updates is missing", [](State& arrays) { arrays.erase("trainer/updates"); });
  expect_resuming_refused("array updates is 18446744073709551615",
                          [](State& arrays) { put_scalar(arrays, "trainer/updates", ~std::uint64_t{0}); });
  expect_resuming_refused("unknown reason 256", [](State& arrays) {
    put(arrays, "trainer/best.0.outcome", std::vector<std::int64_t>{1, 0, 256, 0, 0});
  });
  expect_resuming_refused("array entropy has another element type",
                          [](State& arrays) { put(arrays, "history/entropy", std::vector<float>(5)); });
  expect_resuming_refused("history/entropy has 1 updates",
                          [](State& arrays) { put(arrays, "history/entropy", std::vector<double>{1}); });
}

TEST_F(BadCheckpoint, OfOtherTypesOfOpsThanTheRecipeNames) {
  const std::string run = trained("colocrl", "run", {small});
  expect_refused(training("colocrl", "next", {small, "--init", run, R"(op_types=["Relu", "Sin"])"}),
                 AllOf(HasSubstr(run), HasSubstr("other op_types")));
}

}  // namespace
}  // namespace emplace::test::bad_checkpoint_test
