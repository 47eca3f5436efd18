#include "cost/calibrate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "cost/robust_fit.hpp"
#include "cost/roofline.hpp"
#include "emplace/base/error.hpp"
#include "tests/cost/small_graphs.hpp"

namespace emplace::cost::calibrate_test {
namespace {

using ::testing::HasSubstr;

TEST(Spearman, OrdersCountAndEqualValuesShareTheirRanks) {
  const std::vector<double> up = {1, 2, 3, 4}, grows = {1, 10, 100, 1000}, down = {4, 3, 2, 1};
  EXPECT_DOUBLE_EQ(spearman(up, grows), 1);
  EXPECT_DOUBLE_EQ(spearman(up, down), -1);
  // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: deviations -1.5, 0, 0, 1.5 and -1.5, -0.5, 0.5, 1.5; 4.5 / sqrt(4.5 x 5).
  EXPECT_DOUBLE_EQ(spearman(std::vector<double>{5, 7, 7, 9}, up), 4.5 / std::sqrt(22.5));
  EXPECT_TRUE(std::isnan(spearman(std::vector<double>{1, 1}, std::vector<double>{1, 2})));
}

TEST(RobustFit, KeepsACoefficientAtItsBoundAndRefitsTheOthers) {
  // c0 + 2 c1 = 1 and c0 + 4 c1 = 5 want c0 = -3, c1 = 2. With c0 >= 0: min (2 c1 - 1)^2 + (4 c1 - 5)^2, c1 = 22 / 20.
  const std::array<Coefficients, fit_terms> a = {{{2, 6, 0}, {6, 20, 0}, {0, 0, 0}}};
  const Coefficients c = bounded_least_squares(a, {6, 22, 0}, {0, 0, 0});
  EXPECT_DOUBLE_EQ(c[0], 0);
  EXPECT_DOUBLE_EQ(c[1], 1.1);
  EXPECT_DOUBLE_EQ(c[2], 0);  // no row has anything to say of it
}

// Karush, Kuhn, Tucker: at the minimum the gradient is zero along free coefficients and not negative at bounds.
TEST(RobustFit, BoundedSolutionsSatisfyTheConditionsOfOptimality) {
  EXPECT_TRUE(rc::check("gradient at the solution", [] {
    const auto number = [] { return *rc::gen::inRange(-20, 21) * 0.1; };
    std::array<Coefficients, fit_terms> a{};
    Coefficients b{}, lower{};
    for (int row = 0; row < 5; ++row) {
      const Coefficients x = {number(), number(), number()};
      const double y = number();
      for (std::size_t j = 0; j < fit_terms; ++j) {
        b[j] += x[j] * y;
        for (std::size_t k = 0; k < fit_terms; ++k) a[j][k] += x[j] * x[k];
      }
    }
    for (double& bound : lower) bound = number();
    const Coefficients c = bounded_least_squares(a, b, lower);
    for (std::size_t j = 0; j < fit_terms; ++j) {
      double gradient = -b[j];
      for (std::size_t k = 0; k < fit_terms; ++k) gradient += a[j][k] * c[k];
      RC_ASSERT(c[j] >= lower[j]);
      RC_ASSERT(gradient > -1e-6);
      RC_ASSERT(c[j] == lower[j] || std::abs(gradient) < 1e-6);
    }
  }));
}

// 1 TFLOP/s and 100 GB/s; 60 % in convolutions that lose 5 MFLOP, a quarter of the bandwidth in pooling.
machine::MachineDevice real_device() {
  machine::MachineDevice device;
  device.name = "cpu";
  device.peak_flops = {{"f32", 1e12}};
  device.memory_bytes_per_s = 1e11;
  device.launch_overhead_s = 2e-6;
  device.efficiency = {{"convolution", 0.6}, {"default", 0.5}};
  device.memory_efficiency = {{"pooling", 0.25}};
  device.half_flops = {{"convolution", 5e6}};
  device.overlap = 0;
  return device;
}

// What the calibrated machine file says: wrong in all but the peak.
machine::MachineDevice guessed_device() {
  machine::MachineDevice device = real_device();
  device.memory_bytes_per_s = 3e10;
  device.launch_overhead_s = 5e-5;
  device.efficiency = {{"convolution", 0.1}, {"recurrent", 0.3}, {"default", 0.9}};
  device.memory_efficiency.clear();
  device.half_flops.clear();
  device.overlap = 1;
  return device;
}

// Ops of growing size, timed by `device` itself; every tenth `slow` times slower.
TimedModel timed(const machine::MachineDevice& device, const std::string& name, double size, double slow = 1) {
  TimedModel model;
  model.name = name;
  const Roofline roofline(device);
  for (int i = 0; i < 60; ++i) {
    TimedOp timed;
    timed.cls = i % 3 == 0 ? OpClass::convolution : i % 3 == 1 ? OpClass::elementwise : OpClass::pooling;
    timed.dtype = DType::f32;
    timed.bytes = std::round(size * 1e4 * (1 + i % 7) * (1 + i % 4));
    timed.flops = timed.cls == OpClass::convolution ? size * 2e6 * (1 + i % 11) : timed.bytes / 8;
    OpCost cost;
    cost.cls = timed.cls;
    cost.flops = timed.flops;
    cost.bytes_read = static_cast<Bytes>(timed.bytes);
    timed.seconds = roofline.seconds(cost, timed.dtype, op("o", "o", {}), "test") * (i % 10 == 9 ? slow : 1);
    model.ops.push_back(timed);
  }
  return model;
}

TEST(Calibrate, FindsTheFiguresThatMadeTheTimes) {
  const Calibration calibration = calibrate(guessed_device(), std::vector{timed(real_device(), "a", 1)});
  const machine::MachineDevice& device = calibration.device;
  EXPECT_NEAR(device.efficiency.at("convolution"), 0.6, 0.01);
  EXPECT_NEAR(device.half_flops.at("convolution"), 5e6, 5e5);
  EXPECT_NEAR(device.memory_bytes_per_s * device.memory_efficiency.at("pooling"), 2.5e10, 1e9);
  EXPECT_NEAR(device.launch_overhead_s, 2e-6, 5e-7);
  EXPECT_EQ(device.overlap, 0);
  EXPECT_EQ(device.efficiency.at("recurrent"), 0.3);  // not measured: as the machine has it
  EXPECT_EQ(device.peak_flops, guessed_device().peak_flops);
  ASSERT_EQ(calibration.models.size(), 1u);
  EXPECT_NEAR(calibration.models[0].predicted_s / calibration.models[0].measured_s, 1, 0.01);
  EXPECT_GT(calibration.models[0].spearman, 0.999);
  EXPECT_EQ(calibration.classes.size(), 3u);
  EXPECT_TRUE(calibration.left_out.empty());
}

TEST(Calibrate, AFewWildTimesDoNotMoveTheFit) {
  const Calibration calibration = calibrate(guessed_device(), std::vector{timed(real_device(), "a", 1, 20)});
  const PredictionError clean = prediction_error(calibration.device, "clean", timed(real_device(), "a", 1).ops);
  EXPECT_NEAR(clean.predicted_s / clean.measured_s, 1, 0.05);
}

TEST(Calibrate, EachModelLeftOutIsPredictedFromTheOthers) {
  const std::vector<TimedModel> models = {timed(real_device(), "small", 0.5), timed(real_device(), "large", 4)};
  const Calibration calibration = calibrate(guessed_device(), models);
  ASSERT_EQ(calibration.left_out.size(), 2u);
  EXPECT_EQ(calibration.left_out[1].model, "large");
  for (const PredictionError& error : calibration.left_out)
    EXPECT_NEAR(error.predicted_s / error.measured_s, 1, 0.05) << error.model;
  // Exactly what a calibration to the other model alone predicts.
  const Calibration alone = calibrate(guessed_device(), std::span(models).first(1));
  EXPECT_EQ(prediction_error(alone.device, "large", models[1].ops).predicted_s, calibration.left_out[1].predicted_s);
}

// Kernels of a run whose layouts make convolutions 1.25 times as fast; the launches stay.
TimedModel fused_run(const std::string& name, double size) {
  machine::MachineDevice device = real_device();
  device.efficiency["convolution"] *= 1.25;
  TimedModel run = timed(device, name, size);
  for (TimedOp& op : run.ops) run.rest.push_back({op.cls, op.dtype, op.flops, op.bytes, 0});
  run.rest.resize(1);  // one op was folded into others
  run.use.device_s = {0};
  for (const TimedOp& op : run.ops) run.use.device_s[0] += op.seconds;
  run.use.run_s = std::nan("");
  return run;
}

TEST(Calibrate, TheSpeedupOfAFusedRunIsFittedToOneModelAndPredictsTheOther) {
  std::vector<TimedModel> models = {timed(real_device(), "small", 0.5), timed(real_device(), "large", 4)};
  for (TimedModel& model : models) model.use.device_s = {1};
  const std::vector<TimedModel> runs = {fused_run("small", 0.5), fused_run("large", 4)};
  const Calibration calibration = calibrate(guessed_device(), models, runs);
  EXPECT_NEAR(calibration.device.fused_speedup.at("convolution"), 1.25, 0.02);
  EXPECT_NEAR(calibration.device.fused_speedup.at("pooling"), 1, 0.02);
  EXPECT_FALSE(calibration.device.fused_speedup.contains("matmul"));
  EXPECT_EQ(calibration.device.efficiency, calibrate(guessed_device(), models).device.efficiency);
  ASSERT_EQ(calibration.kernels.size(), 2u);
  EXPECT_NEAR(calibration.kernels[1].predicted_s / calibration.kernels[1].measured_s, 1, 0.02);
  ASSERT_EQ(calibration.left_out_runs.size(), 2u);
  const RunPrediction& large = calibration.left_out_runs[1];
  EXPECT_EQ(large.model, "large");
  EXPECT_EQ(large.unfused_measured_s, 1);
  EXPECT_EQ(large.fused_measured_s, runs[1].use.device_s[0]);
  EXPECT_NEAR(large.fused_s / large.fused_measured_s, 1, 0.05);
  EXPECT_GT(large.unfused_s, large.fused_s);
  // One run is enough to predict the other's, whose times are then not looked at.
  const Calibration one = calibrate(guessed_device(), std::span(models).first(1), std::span(runs).first(1));
  const double speedup = one.device.fused_speedup.at("convolution");
  EXPECT_NEAR(speedup, 1.25, 0.02);
  EXPECT_TRUE(one.left_out_runs.empty());
}

TEST(Calibrate, OneOpOfAClassDoesNotBecomeALaunchOverhead) {
  TimedModel model = timed(real_device(), "a", 1);
  model.ops.push_back({OpClass::matmul, DType::f32, 4e6, 8e6, 300e-6});
  const machine::MachineDevice device = calibrate(guessed_device(), std::vector{model}).device;
  model.ops.back().flops *= 10;
  model.ops.back().bytes *= 10;
  const PredictionError error = prediction_error(device, "ten times larger", std::span(model.ops).last(1));
  EXPECT_GT(error.predicted_s, 8 * 300e-6);
  EXPECT_LT(error.predicted_s, 12 * 300e-6);
}

TEST(Calibrate, APeakThatIsTooLowIsSaid) {
  machine::MachineDevice device = guessed_device();
  device.peak_flops = {{"f32", 1e11}};  // the real one computes convolutions six times as fast
  const Calibration calibration = calibrate(device, std::vector{timed(real_device(), "a", 1)});
  EXPECT_EQ(calibration.device.efficiency.at("convolution"), 1);
  EXPECT_THAT(calibration.warnings, ::testing::ElementsAre(HasSubstr("ops of class convolution reach the whole peak")));
}

TEST(Calibrate, NothingToFitAndMissingPeaksAreRefused) {
  const auto error = [](const machine::MachineDevice& device, const TimedOp& op) {
    TimedModel model;
    model.ops = {op};
    try {
      calibrate(device, std::vector{model});
    } catch (const InputError& caught) {
      return std::string(caught.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error(real_device(), {OpClass::free, DType::f32, 0, 0, 1e-6}),
            "calibrate: no measured op does any work, so there is nothing to fit");
  EXPECT_EQ(error(real_device(), {OpClass::matmul, DType::i32, 1, 1, 1e-6}),
            "calibrate: ops compute in i32, for which device 'cpu' gives no peak_flops; add one, or a default");
  EXPECT_EQ(error(real_device(), {OpClass::matmul, DType::f32, 0, 0, 0}), "no error");
}

TEST(Calibrate, TakesTheOpsOfAGraphThatAProfileHas) {
  const TimedModel model = timed_model(
      "g", dense_relu(), {}, parse_profile("op,cpu (us),gpu (us)\ndense,30,3\nrelu,,1\n", "p"), "gpu", real_device());
  ASSERT_EQ(model.ops.size(), 2u);
  EXPECT_EQ(model.ops[0].cls, OpClass::matmul);
  EXPECT_EQ(model.ops[0].flops, 12e6);
  EXPECT_EQ(model.ops[0].bytes, 440000);
  EXPECT_DOUBLE_EQ(model.ops[0].seconds, 3e-6);
  EXPECT_EQ(model.use.used, 2u);
  EXPECT_THROW(timed_model("g", dense_relu(), {}, parse_profile("op,cpu\ndense,1\n", "p"), "gpu", real_device()),
               InputError);
  RooflineOptions merged;
  merged.coarsen = 1;
  EXPECT_THROW(timed_model("g", dense_relu(), merged, parse_profile("op,gpu\ndense,1\n", "p"), "gpu", real_device()),
               InputError);
}

TEST(Calibrate, TakesTheKernelsOfAFusedRunOnlyAsSuch) {
  const std::string kernels = "op,gpu (us)\nactivations,2.5\nother,1\n", ops = "op,gpu\ndense,1\n";
  RooflineOptions fused;
  fused.fuse = true;
  const TimedModel run = timed_model("g", dense_relu(), fused, parse_profile(kernels, "p"), "gpu", real_device());
  ASSERT_EQ(run.ops.size(), 1u);
  EXPECT_TRUE(run.rest.empty());
  EXPECT_DOUBLE_EQ(run.ops[0].seconds, 2.5e-6);
  EXPECT_DOUBLE_EQ(run.use.device_s.at(0), 3.5e-6);
  const auto error = [](const RooflineOptions& options, const std::string& text) {
    try {
      timed_model("g", dense_relu(), options, parse_profile(text, "p"), "gpu", real_device());
    } catch (const InputError& caught) {
      return std::string(caught.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(error({}, kernels), HasSubstr("p: its rows are kernels of a run that fused ops, not ops"));
  EXPECT_EQ(error(fused, ops),
            "p: its rows are no kernels of a run that fused ops: none names a tensor that an op makes");
}

}  // namespace
}  // namespace emplace::cost::calibrate_test
