// Calibration against the measurements of ../shared/profiles: fitted to one model, it must predict the other.
#include <gtest/gtest.h>

#include <filesystem>

#include "emplace/cost/calibrate.hpp"
#include "emplace/formats/reader.hpp"

namespace emplace {
namespace {

TimedModel timed(const std::string& model, const std::string& profile) {
  const Graph graph = read_graph("../shared/models/onnx-graph-only/" + model + ".onnx", {});
  return timed_model(model, graph, {}, read_profile("../shared/profiles/" + model + "_" + profile + ".tsv"), "cpu:0");
}

class Measured : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("../shared/profiles")) GTEST_SKIP() << "../shared/profiles is not here";
  }
};

INSTANTIATE_TEST_SUITE_P(Profiles, Measured, testing::Values("opt0_t1", "opt0_t2"));

TEST_P(Measured, EachModelIsPredictedFromTheOther) {
  const std::vector<TimedModel> models = {timed("resnet50_tv", GetParam()), timed("inception_v3_tv", GetParam())};
  const MachineDevice cpu = load_machine("laptop").devices[0];
  const Calibration calibration = calibrate(cpu, models);
  ASSERT_EQ(calibration.left_out.size(), 2u);
  for (const PredictionError& error : calibration.left_out) {
    SCOPED_TRACE(error.model);
    EXPECT_NEAR(error.predicted_s / error.measured_s, 1, 0.2);
    EXPECT_GT(error.spearman, 0.85);
  }
}

}  // namespace
}  // namespace emplace
