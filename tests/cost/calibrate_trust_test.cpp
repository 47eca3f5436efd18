// Calibration on one model whose samples of a class are few, or all bound by memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cost/calibrate.hpp"
#include "cost/lower.hpp"
#include "cost/roofline.hpp"
#include "emplace/base/random.hpp"
#include "zoo/zoo.hpp"

namespace emplace::cost::calibrate_trust_test {
namespace {

// The machine that makes the times. Convolutions reach 35 % of the peak and matrix products 60 %, but products that
// wait for their weights get a fifth of the memory bandwidth.
machine::MachineDevice true_device(double overlap) {
  machine::MachineDevice device;
  device.name = "cpu";
  device.peak_flops = {{"default", 9.73e11}};
  device.memory_bytes_per_s = 4e10;
  device.launch_overhead_s = 4e-6;
  device.efficiency = {{"matmul", 0.6}, {"convolution", 0.35}, {"default", 0.1}};
  device.memory_efficiency = {{"matmul", 0.2}, {"default", 1}};
  device.overlap = overlap;
  return device;
}

// The machine as its user described it: the CPU of the preset `laptop`.
machine::MachineDevice described_device() { return machine::load_machine("laptop").devices[0]; }

// The ops of a model with the times that the true machine gives, each with its own noise.
TimedModel timed(const std::string& name, const machine::MachineDevice& device, std::uint64_t seed,
                 double deviation = 0.1) {
  const Graph graph = kernel_passes(zoo::build_zoo_model(name, "the test"), {}, name).graph;
  const Roofline roofline(device);
  Stream random({.seed = seed, .purpose = Purpose::test});
  TimedModel model;
  model.name = name;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const OpCost cost = cost_of(graph, OpId{i});
    TimedOp op{cost.cls,   compute_dtype(graph, OpId{i}),
               cost.flops, static_cast<double>(cost.bytes_read) + static_cast<double>(cost.bytes_written),
               0,          graph.ops[i].type};
    op.seconds = predicted_seconds(roofline, op, name) * std::exp(deviation * random.normal());
    model.ops.push_back(op);
  }
  return model;
}

const ClassFit& fit_of(const Calibration& calibration, OpClass cls) {
  for (const ClassFit& fit : calibration.classes)
    if (fit.cls == cls) return fit;
  throw std::runtime_error(std::string("no class ") + emplace::name_of(cls));
}

class OneModel : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Overlap, OneModel, ::testing::Values(0.0, 0.5, 1.0));

// ResNet-50 has one matrix product, which is bound by memory; BERT consists of those that are bound by compute.
TEST_P(OneModel, AConvolutionalNetworkPredictsATransformer) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const machine::MachineDevice truth = true_device(GetParam());
    const TimedModel resnet = timed("resnet-50?batch=1", truth, seed);
    const Calibration calibration = calibrate(described_device(), std::vector{resnet});
    const PredictionError same = prediction_error(calibration.device, resnet.name, resnet.ops);
    EXPECT_NEAR(same.predicted_s / same.measured_s, 1, 0.05);
    const TimedModel bert = timed("bert-base", truth, seed + 10);
    const PredictionError other = prediction_error(calibration.device, bert.name, bert.ops);
    EXPECT_NEAR(other.predicted_s / other.measured_s, 1, 0.3) << "seed " << seed;
  }
}

TEST(Trust, OpsBoundByMemorySayNothingOfTheEfficiency) {
  const Calibration calibration =
      calibrate(described_device(), std::vector{timed("resnet-50?batch=1", true_device(1), 1)});
  const ClassTrust& matmul = fit_of(calibration, OpClass::matmul).trust;
  EXPECT_EQ(matmul.samples, 1U);
  EXPECT_EQ(matmul.compute_bound, 0U);
  EXPECT_EQ(matmul.efficiency_from, FigureSource::machine);
  EXPECT_EQ(matmul.bandwidth_from, FigureSource::few);
  EXPECT_GE(matmul.expected_error, 0.3);
  // The machine names 0.5 for convolutions, of which about 0.35 are true: a usual error, of which half is taken for the
  // machine's. So its 0.7 for products is multiplied by the root of 0.35 / 0.5: 0.59.
  EXPECT_NEAR(matmul.efficiency, 0.7 * std::sqrt(0.35 / 0.5), 0.03);
  EXPECT_NEAR(matmul.bytes_per_s, 0.2 * 4e10, 0.25 * 0.2 * 4e10);

  const ClassTrust& convolution = fit_of(calibration, OpClass::convolution).trust;
  EXPECT_EQ(convolution.efficiency_from, FigureSource::fitted);
  EXPECT_EQ(convolution.samples, 53U);
  EXPECT_GT(convolution.compute_bound, 40U);
  EXPECT_NEAR(convolution.efficiency, 0.35, 0.03);
  EXPECT_LT(convolution.expected_error, 0.3);
  EXPECT_EQ(convolution.compute_error, convolution.expected_error);

  const ClassTrust& elementwise = fit_of(calibration, OpClass::elementwise).trust;
  EXPECT_EQ(elementwise.efficiency_from, FigureSource::all_classes);  // the laptop has no figure of its own for it
  EXPECT_EQ(elementwise.bandwidth_from, FigureSource::fitted);
}

// A class with compute-bound ops enough is fitted to them, whatever the machine says of it.
TEST(Trust, AClassWithEnoughOpsIsFittedWhateverTheMachineSays) {
  const Calibration calibration = calibrate(described_device(), std::vector{timed("bert-base", true_device(0), 1)});
  const ClassTrust& matmul = fit_of(calibration, OpClass::matmul).trust;
  EXPECT_EQ(matmul.efficiency_from, FigureSource::fitted);
  EXPECT_NEAR(matmul.efficiency, 0.6, 0.04);
  EXPECT_EQ(calibration.device.efficiency.at("convolution"), 0.5);  // not measured: as the machine has it
}

// With a peak that is six times too high every class is off by that much, which one class is enough to show: nothing
// that the file says of products is used. Half of the error, as for a usual one, would leave them 2.5 times too fast.
TEST(Trust, AMachineThatIsFarOffIsNotBelieved) {
  machine::MachineDevice described = described_device(), truth = true_device(0);
  for (auto& [dtype, peak] : described.peak_flops) peak = 6 * 9.73e11;
  truth.efficiency["matmul"] = 0.42;
  const Calibration calibration = calibrate(described, std::vector{timed("resnet-50?batch=1", truth, 1)});
  EXPECT_NEAR(6 * fit_of(calibration, OpClass::matmul).trust.efficiency, 0.35, 0.04);  // that of convolutions
  for (const char* unseen : {"bert-base", "gpt-2"}) {
    const TimedModel model = timed(unseen, truth, 11);
    const PredictionError error = prediction_error(calibration.device, model.name, model.ops);
    EXPECT_NEAR(error.predicted_s / error.measured_s, 1, 0.3) << unseen;
  }
}

TEST(Trust, TimesThatHideEachOtherAreFoundToOverlap) {
  const auto overlap = [](double truth, double deviation) {
    const TimedModel model = timed("resnet-50?batch=1", true_device(truth), 5, deviation);
    return calibrate(described_device(), std::vector{model}).device.overlap;
  };
  EXPECT_GE(overlap(1, 0.1), 0.5);
  EXPECT_EQ(overlap(1, 0), 1);
  EXPECT_EQ(overlap(0, 0), 0);
}

}  // namespace
}  // namespace emplace::cost::calibrate_trust_test
