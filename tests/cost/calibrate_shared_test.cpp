// Calibration against real measurements (outside files): fitted to one model, it must predict the other.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "cost/calibrate.hpp"
#include "emplace/formats/reader.hpp"
#include "tests/support/outside_files.hpp"

namespace emplace::cost::calibrate_shared_test {
namespace {

const std::string folder = test::outside_file("profiles/");

TimedModel timed(const std::string& model, const std::string& profile, bool fused = false) {
  const Graph graph = formats::read_graph(test::outside_file("models/onnx-graph-only/") + model + ".onnx", {});
  RooflineOptions options;
  options.fuse = fused;
  return timed_model(model, graph, options, read_profile(folder + model + "_" + profile + ".tsv"), "cpu:0",
                     machine::load_machine("laptop").devices[0]);
}

// latency.tsv: what, model, threads, optimisation, nodes, ..., min_ms, median_ms.
double whole_run_s(const std::string& model, const std::string& threads) {
  for (const std::string& line : split(read_file(folder + "latency.tsv", 1 << 20), '\n')) {
    const std::vector<std::string> cells = split(line, '\t');
    double ms = 0;
    if (cells.size() > 9 && cells[0] == "whole" && cells[1] == model + ".onnx" && cells[2] == threads &&
        cells[3] == "opt99" && parse_number(cells[9], ms))
      return 1e-3 * ms;
  }
  ADD_FAILURE() << "no whole run of " << model;
  return 0;
}

class Measured : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { REQUIRE_OUTSIDE_FILE(folder); }
};

INSTANTIATE_TEST_SUITE_P(Threads, Measured, ::testing::Values("1", "2"));

TEST_P(Measured, EachModelIsPredictedFromTheOther) {
  const std::string ops = std::string("opt0_t") + GetParam(), kernels = std::string("opt99_t") + GetParam();
  const std::vector<TimedModel> models = {timed("resnet50_tv", ops), timed("inception_v3_tv", ops)};
  const std::vector<TimedModel> runs = {timed("resnet50_tv", kernels, true), timed("inception_v3_tv", kernels, true)};
  const Calibration calibration = calibrate(machine::load_machine("laptop").devices[0], models, runs);
  ASSERT_EQ(calibration.left_out.size(), 2u);
  for (const PredictionError& error : calibration.left_out) {
    SCOPED_TRACE(error.model);
    EXPECT_NEAR(error.predicted_s / error.measured_s, 1, 0.2);
    EXPECT_GT(error.spearman, 0.85);
  }
  // The run that fuses, its speedup fitted to the other model, beside the time that the whole model took.
  ASSERT_EQ(calibration.left_out_runs.size(), 2u);
  for (const RunPrediction& run : calibration.left_out_runs) {
    SCOPED_TRACE(run.model);
    const double whole_s = whole_run_s(run.model, GetParam());
    EXPECT_NEAR(run.fused_measured_s / whole_s, 1, 0.03);  // the kernels' sum lacks what is between kernels
    EXPECT_NEAR(run.fused_s / whole_s, 1, 0.15);
    EXPECT_NEAR(run.unfused_s / run.unfused_measured_s, 1, 0.2);
    EXPECT_GT(run.unfused_s / whole_s, 1.15);  // so the sum of the ops one by one is no estimate of a run
  }
  // Every kernel but the reordering of the result is one of ours.
  for (const TimedModel& run : runs) EXPECT_EQ(run.use.used + 1, run.use.times) << run.name;
}

}  // namespace
}  // namespace emplace::cost::calibrate_shared_test
