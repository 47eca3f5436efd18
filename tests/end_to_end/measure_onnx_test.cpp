// emplace-measure-onnx: placements run with ONNX Runtime, where its library is here ($ONNXRUNTIME_LIBRARY).
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emplace/base/files.hpp"
#include "program.hpp"
#include "support/temporary_folder.hpp"

namespace emplace::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string program = std::string(EMPLACE_PROGRAM) + "-measure-onnx";
const std::string squeezenet = "../shared/models/onnx-light/light_squeezenet.onnx";

class MeasureOnnx : public testing::Test {
 protected:
  void need_runtime() {
    if (std::getenv("ONNXRUNTIME_LIBRARY") == nullptr) GTEST_SKIP() << "needs $ONNXRUNTIME_LIBRARY";
    if (!file_exists(squeezenet)) GTEST_SKIP() << "no model file here";
  }
  TemporaryFolder folder_;
};

TEST_F(MeasureOnnx, SaysWhichLibraryItCannotLoadAndWhatIsNoList) {
  const auto none = run({program, "run", "model.onnx", "--library", folder_ / "none.so"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, testing::AllOf(HasSubstr("none.so"), HasSubstr("--library")));
  const auto no_file = run({program, "run"});
  EXPECT_EQ(no_file.exit_code, 2);
  EXPECT_THAT(no_file.err, testing::AllOf(testing::StartsWith("error: "), HasSubstr("file")));
  EXPECT_THAT(run({program, "--help"}).out, testing::AllOf(HasSubstr("profile"), HasSubstr("optimize")));
}

TEST_F(MeasureOnnx, ProfilesOpsThatCostReadsAndRunsAPlacementOnTwoCores) {
  need_runtime();
  if (IsSkipped()) return;
  const std::string model = folder_ / "model.onnx", profile = folder_ / "profile.json",
                    problem = folder_ / "problem.json";
  ASSERT_EQ(run({program, "optimize", squeezenet, "-o", model}).exit_code, 0);
  const auto onto_itself = run({program, "optimize", model, "-o", model});
  EXPECT_EQ(onto_itself.exit_code, 2);
  EXPECT_THAT(onto_itself.err, HasSubstr("would be lost"));
  ASSERT_EQ(run({program, "profile", model, "-o", profile, "--runs", "5"}).exit_code, 0);
  const auto cost = emplace_run(
      {"cost", model, "cores-x2", "--profile", profile, "--profile-device", "cpu", "-o", problem, "--json"});
  ASSERT_EQ(cost.exit_code, 0) << cost.err;
  EXPECT_THAT(cost.err, Not(HasSubstr("unmatched")));
  ASSERT_EQ(emplace_run({"place", "round-robin", problem, "-o", folder_ / "p.json"}).exit_code, 0);
  const auto measured = run({"sh", "-c",
                             "EMPLACE='" EMPLACE_PROGRAM "' " EMPLACE_SOURCE "/launch/measure-onnx '" + model +
                                 "' --runs 3 < " + (folder_ / "p.json")});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const json result = json::parse(measured.out);
  EXPECT_GT(result["seconds"], 0);
  EXPECT_LE(result["least"], result["seconds"]);
  EXPECT_EQ(result["runs"], 3);
  EXPECT_THAT(result["devices"], ElementsAre("cpu:0", "cpu:1"));
}

TEST_F(MeasureOnnx, SaysWhichOpenSizesItTookAsOne) {
  need_runtime();
  if (IsSkipped()) return;
  const std::string model = "../shared/models/onnx-with-weights/openwakeword_embedding.onnx";
  if (!file_exists(model)) GTEST_SKIP() << "no model file here";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{program, "run", model, "--runs", "1"},
        std::vector<std::string>{program, "profile", model, "--runs", "1", "-o", folder_ / "profile.json"}}) {
    const auto done = run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("the input 'input_1' has open sizes, taken as 1"));
  }
}

TEST_F(MeasureOnnx, RefusesMoreDevicesThanCoresAndSizesOfNoInput) {
  need_runtime();
  if (IsSkipped()) return;
  json list = {{"emplace", "segments/1"}, {"segments", json::array()}};
  for (int device = 0; device < 300; ++device)
    list["segments"].push_back(
        {{"file", "x.onnx"}, {"device", "cpu:" + std::to_string(device)}, {"inputs", {"x"}}, {"outputs", {"y"}}});
  write_file(folder_ / "many.json", list.dump());
  const auto many = run({program, "run", folder_ / "many.json"});
  EXPECT_EQ(many.exit_code, 2);
  EXPECT_THAT(many.err, HasSubstr("cores"));
  const auto missing = run({program, "run", folder_ / "none.onnx"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("none.onnx"));
  write_file(folder_ / "bad.onnx", "no model");
  const auto bad = run({program, "run", folder_ / "bad.onnx"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_EQ(std::count(bad.err.begin(), bad.err.end(), '\n'), 1) << bad.err;
  const auto size = run({program, "run", squeezenet, "--shape", "nothing=1"});
  EXPECT_EQ(size.exit_code, 2);
  EXPECT_THAT(size.err, HasSubstr("'nothing'"));
}

}  // namespace
}  // namespace emplace::test
