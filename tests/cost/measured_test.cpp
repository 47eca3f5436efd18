// Measured times in the place of the roofline's.
#include "cost/measured.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/lower.hpp"
#include "emplace/base/error.hpp"
#include "tests/cost/small_graphs.hpp"

namespace emplace::cost::measured_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Ticks us = 1'000'000;
const RooflineOptions as_is{.prune = false, .training = false, .optimizer = "sgd"};

DeviceProfile profile(const std::string& text, const std::string& device = {}) {
  return {parse_profile(text, "p.tsv"), device};
}

Lowered lowered_with(const std::vector<DeviceProfile>& profiles, const Graph& graph = dense_relu(),
                     const machine::Machine& machine = two_speeds(), const RooflineOptions& options = as_is) {
  return lower(graph, machine, options, "g", profiles);
}

std::string error_with(const std::vector<DeviceProfile>& profiles, const machine::Machine& machine = two_speeds()) {
  try {
    lowered_with(profiles, dense_relu(), machine);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Measured, TimesReplaceTheRooflineOnTheirDeviceAndTheRestIsCountedAsEstimated) {
  const Lowered lowered = lowered_with({profile("node\top\tmin_us\ndense\tMatMul\t700\n", "fast")});
  EXPECT_EQ(lowered.problem.time(OpId{0}, DeviceId{0}), 700 * us);
  EXPECT_EQ(lowered.problem.time(OpId{0}, DeviceId{1}), 1200 * us);  // as the roofline has it
  EXPECT_EQ(lowered.problem.time(OpId{1}, DeviceId{0}), 12'400'000);
  ASSERT_EQ(lowered.costs.size(), 2u);
  EXPECT_EQ(lowered.costs[0].ops, 2u);
  EXPECT_EQ(lowered.costs[0].measured_ops, 1u);
  EXPECT_DOUBLE_EQ(lowered.costs[0].measured_s, 700e-6);
  EXPECT_DOUBLE_EQ(lowered.costs[0].seconds, 712.4e-6);
  EXPECT_EQ(lowered.costs[1].measured_ops, 0u);
  EXPECT_TRUE(cost_warnings(lowered).empty());
}

TEST(Measured, ColumnsNameDevicesAndAGroupMeansAllOfIt) {
  machine::Machine machine = two_speeds();
  machine.devices[0].name = "gpu:0";
  machine.devices[1].name = "gpu:1";
  const Lowered both = lowered_with({profile("op,gpu (us)\nrelu,5\n")}, dense_relu(), machine);
  EXPECT_EQ(both.problem.time(OpId{1}, DeviceId{0}), 5 * us);
  EXPECT_EQ(both.problem.time(OpId{1}, DeviceId{1}), 5 * us);
  // --profile-device picks one column; the other one is not looked at, although its device is unknown.
  const Lowered one = lowered_with({profile("op,gpu:1 (us),tpu\nrelu,5,6\n", "gpu:1")}, dense_relu(), machine);
  EXPECT_EQ(one.problem.time(OpId{1}, DeviceId{0}), 12'400'000);
  EXPECT_EQ(one.problem.time(OpId{1}, DeviceId{1}), 5 * us);
  EXPECT_EQ(one.measured.profiles[0].times, 1u);
}

TEST(Measured, AMeasuredOpRunsWhereTheMachineSaysItCannot) {
  machine::Machine machine = two_speeds();
  machine.devices[0].unsupported = {"Relu"};
  const Lowered lowered = lowered_with({profile("op,fast (us)\nrelu,5\n")}, dense_relu(), machine);
  EXPECT_EQ(lowered.problem.time(OpId{1}, DeviceId{0}), 5 * us);
}

TEST(Measured, CountsRowsOfFoldedOpsWrongTypesAndUnknownOpsSeparately) {
  Graph g = dense_relu();
  const auto w = g.add_parameter("v", DType::f32, {300});
  const auto copy = g.add_op(op("copy", "Identity", {Operand::of(w)}));
  const auto v = g.add_output(copy, "v:0", DType::f32, {300});
  g.add_output(g.add_op(op("bias", "Add", {Operand::of(TensorId{2}), Operand::of(v)})), "biased", DType::f32,
               {100, 300});
  const Lowered lowered = lowered_with(
      {profile("node\top\tmin_us\ncopy\tIdentity\t3\nbias\tFusedAdd\t9\nrelu\tRelu\t15\nrelo\tRelu\t5\n", "slow")}, g,
      two_speeds(), {});
  const ProfileUse& use = lowered.measured.profiles.at(0);
  EXPECT_EQ(use.times, 4u);
  EXPECT_EQ(use.used, 1u);
  EXPECT_EQ(use.folded, 1u);
  EXPECT_DOUBLE_EQ(use.folded_s, 3e-6);
  EXPECT_THAT(use.other_type.ops, ElementsAre("bias"));
  EXPECT_THAT(use.unmatched.ops, ElementsAre("relo"));
  EXPECT_THAT(cost_warnings(lowered),
              ElementsAre("p.tsv: 1 of 4 times are of no op of the graph: 'relo' (did you mean 'relu'?)",
                          HasSubstr("1 of 4 times are of ops that have another type in the graph, so perhaps of fused "
                                    "kernels, and are not used: 'bias'")));
}

// graph/passes.hpp: relu joins dense; its own launch and the products' way through memory are saved.
TEST(Measured, AFusedOpHasTheMeasuredTimeOfItsMainOpPlusTheRooflineTimesOfTheOthers) {
  RooflineOptions fused = as_is;
  fused.fuse = true;
  const std::string both = "node\top\tmin_us\ndense\tMatMul\t70\nrelu\tRelu\t22.8\n";
  const Lowered lowered = lowered_with({profile(both, "fast")}, dense_relu(), two_speeds(), fused);
  ASSERT_EQ(lowered.problem.op_count(), 1u);
  // The product alone: 24 + 10 us by the roofline, 70 us measured; with the activation 24.06 + 10 us by the roofline.
  EXPECT_EQ(lowered.problem.time(OpId{0}, DeviceId{0}), 70'123'529);
  EXPECT_EQ(lowered.measured.profiles[0].used, 2u);
  EXPECT_EQ(lowered.costs[0].measured_ops, 1u);

  const Lowered half =
      lowered_with({profile("node\top\tmin_us\ndense\tMatMul\t70\n", "fast")}, dense_relu(), two_speeds(), fused);
  EXPECT_EQ(half.problem.time(OpId{0}, DeviceId{0}), 34'060'000);
  EXPECT_THAT(cost_warnings(half), ElementsAre(HasSubstr("merged with others that were not measured: 'dense'")));
}

// ONNX Runtime calls a fused kernel after the tensor that it makes.
TEST(Measured, KernelsOfAFusedRunAreFoundByTheirTensorsAndOnlyInAFusedGraph) {
  RooflineOptions fused = as_is;
  fused.fuse = true;
  const std::string run = "node\top\tmin_us\nactivations_nchwc\tMatMul\t50\nReorderOutput\tReorderOutput\t4\n";
  const std::string ops = "node\top\tmin_us\ndense\tMatMul\t70\nrelu\tRelu\t22.8\n";
  for (const bool with_ops : {false, true}) {
    std::vector<DeviceProfile> profiles = {profile(run, "fast")};
    if (with_ops) profiles.push_back(profile(ops, "fast"));
    const Lowered lowered = lowered_with(profiles, dense_relu(), two_speeds(), fused);
    EXPECT_EQ(lowered.problem.time(OpId{0}, DeviceId{0}), 50 * us);
    EXPECT_EQ(lowered.costs[0].measured_ops, 1u);
    EXPECT_EQ(lowered.costs[0].measured_s, lowered.costs[0].seconds);
    const ProfileUse& use = lowered.measured.profiles[0];
    EXPECT_TRUE(use.fused_run);
    EXPECT_EQ(use.used, 1u);
    EXPECT_THAT(use.unmatched.ops, ElementsAre("ReorderOutput"));
    EXPECT_DOUBLE_EQ(use.device_s[0], 54e-6);  // the sum includes kernels that match no op
    EXPECT_EQ(use.device_s[1], 0);
  }
  const Lowered apart = lowered_with({profile(run, "fast"), profile(ops, "fast")});
  EXPECT_EQ(apart.problem.time(OpId{0}, DeviceId{0}), 70 * us);
  EXPECT_EQ(apart.measured.profiles[0].used, 0u);
  EXPECT_THAT(cost_warnings(apart),
              ElementsAre(HasSubstr("1 of 2 times are of no op of the graph: 'ReorderOutput'"),
                          HasSubstr("1 of 2 times are of kernels of a run that fused ops, and are "
                                    "only used for a fused graph (--fuse): 'activations_nchwc'")));
}

TEST(Measured, SeveralKernelsOfOneFusedRunMakeOneOpTogetherAndAnotherTypeIsNotTaken) {
  RooflineOptions fused = as_is;
  fused.fuse = true;
  const std::string head = "node\top\tmin_us\nproducts\tMatMul\t40\n";
  const Lowered both =
      lowered_with({profile(head + "activations\tRelu\t9\n", "fast")}, dense_relu(), two_speeds(), fused);
  EXPECT_EQ(both.problem.time(OpId{0}, DeviceId{0}), 49 * us);
  const Lowered one =
      lowered_with({profile(head + "activations\tConv\t9\n", "fast")}, dense_relu(), two_speeds(), fused);
  EXPECT_EQ(one.problem.time(OpId{0}, DeviceId{0}), 40 * us);
  EXPECT_THAT(one.measured.profiles[0].other_type.ops, ElementsAre("activations"));
}

TEST(Measured, AFusedSpeedupScalesTheTimesOfOpsThatWereMeasuredOneByOne) {
  machine::Machine machine = two_speeds();
  machine.devices[0].launch_overhead_s = 0;
  machine.devices[0].fused_speedup = {{"matmul", 2}};
  RooflineOptions fused = as_is;
  fused.fuse = true;
  const Lowered lowered = lowered_with({profile("node\top\tmin_us\ndense\tMatMul\t48\nrelu\tRelu\t9\n", "fast")},
                                       dense_relu(), machine, fused);
  // 24 us of product by the roofline; 24.06 us with the activation, of which the layout saves half: 12.03. 48 x 12.03
  // / 24.
  EXPECT_EQ(lowered.problem.time(OpId{0}, DeviceId{0}), 24'060'000);
}

// detail = "layer" of the zoo: one op that stands for three of no file.
TEST(Measured, AnOpThatWasMergedBeforeIsMeasuredByItsOwnName) {
  Graph g = dense_relu();
  g.ops[0].merged_types = {{"Add", 1}, {"MatMul", 2}};
  const Lowered lowered = lowered_with({profile("op,fast (us)\ndense,5\n")}, g);
  EXPECT_EQ(lowered.problem.time(OpId{0}, DeviceId{0}), 5 * us);
}

TEST(Measured, AGroupOfOpsTakesTheSumOfTheirTimesAndSaysHowMuchOfItWasMeasured) {
  RooflineOptions group = as_is;
  group.coarsen = 1;
  const Lowered half = lowered_with({profile("op,fast (us)\ndense,70\n")}, dense_relu(), two_speeds(), group);
  ASSERT_EQ(half.problem.op_count(), 1u);
  EXPECT_EQ(half.problem.time(OpId{0}, DeviceId{0}), 82'400'000);  // and 12.4 us by the roofline
  EXPECT_EQ(half.costs[0].measured_ops, 0u);
  EXPECT_DOUBLE_EQ(half.costs[0].measured_s, 70e-6);
  EXPECT_TRUE(cost_warnings(half).empty());
  const Lowered all = lowered_with({profile("op,fast (us)\ndense,70\nrelu,8\n")}, dense_relu(), two_speeds(), group);
  EXPECT_EQ(all.problem.time(OpId{0}, DeviceId{0}), 78 * us);
  EXPECT_EQ(all.costs[0].measured_ops, 1u);
}

// Comparing takes time in ops x length^2: names of a large graph are not searched.
TEST(Measured, NamesNearToAnUnknownOneAreGivenWhereTheSearchIsShort) {
  const auto warning = [](std::size_t length) {
    Graph g = dense_relu();
    while (g.ops.size() < 20'000) {
      const std::string name = std::to_string(g.ops.size()) + std::string(length - 5, 'x');
      g.add_output(g.add_op(op(name, "Relu", {Operand::of(TensorId{0})})), name + ":0", DType::f32, {1});
    }
    const std::string slip = g.ops.back().name + "y";
    return cost_warnings(lowered_with({profile("op,fast (us)\nrelu,5\n" + slip + ",5\n")}, g)).at(0);
  };
  EXPECT_THAT(warning(20), HasSubstr(" (did you mean '19999"));         // 20,000 x 20 x 21 = 8.4 M steps
  EXPECT_THAT(warning(60), ::testing::Not(HasSubstr("did you mean")));  // 20,000 x 60 x 61 = 73 M
}

TEST(Measured, TheSumsWithAndWithoutFusionAreThoseOfTheProblems) {
  for (const bool fuse : {false, true}) {
    RooflineOptions options = as_is;
    options.fuse = fuse;
    const Lowered both = lower(dense_relu(), two_speeds(), options, "g", {}, true);
    // Apart 34 + 12.4 us on fast and 1200 + 24 us on slow; together 34.06 us and (12e6 + 30000) / 1e10 s.
    for (const auto& [costs, fused] : {std::pair(both.costs, fuse), std::pair(both.other_costs, !fuse)}) {
      EXPECT_EQ(costs[0].ops, fused ? 1U : 2U);
      EXPECT_NEAR(costs[0].seconds, fused ? 34.06e-6 : 46.4e-6, 1e-15);
      EXPECT_NEAR(costs[1].seconds, fused ? 1203e-6 : 1224e-6, 1e-15);
    }
    EXPECT_TRUE(lower(dense_relu(), two_speeds(), options, "g").other_costs.empty());
  }
}

TEST(BadMeasurements, ProfilesThatFitNothingOrNoDeviceAreRefused) {
  EXPECT_EQ(error_with({profile("node\top\tmin_us\ndens\tMatMul\t7\n", "fast")}),
            "p.tsv: none of its 1 times is of an op of the graph: 'dens' (did you mean 'dense'?)");
  EXPECT_EQ(error_with({profile("node\top\tmin_us\ndense\tMatMul\t7\n")}),
            "p.tsv: the profile does not name the device that it measured; give one of 'fast', 'slow'");
  EXPECT_EQ(error_with({profile("node\top\tmin_us\ndense\tMatMul\t7\n", "fest")}),
            "profile device: machine 'two-speeds' has no device 'fest' (did you mean 'fast'?)");
  EXPECT_EQ(error_with({profile("op,fast,slaw\ndense,1,1\n")}),
            "p.tsv: machine 'two-speeds' has no device 'slaw' (did you mean 'slow'?)");
  EXPECT_EQ(error_with({profile("op,fast,slow\ndense,1,1\n", "slaw")}),
            "p.tsv: the profile has no column 'slaw' (did you mean 'slow'?)");
  EXPECT_EQ(error_with({profile("op,fast,slow\ndense,1,\n", "slow")}), "p.tsv: the column 'slow' holds no time");
  const DeviceProfile once = profile("op,fast\ndense,1\n");
  EXPECT_EQ(error_with({once, once}), "p.tsv:2: op 'dense' is timed on device 'fast' a second time");
}

TEST(Measured, AMachineOfOneDeviceNeedsNoName) {
  machine::Machine machine = two_speeds();
  machine.devices.resize(1);
  machine.channels.clear();
  machine.routes.clear();
  const Lowered lowered = lowered_with({profile("node\top\tmin_us\ndense\tMatMul\t7\n")}, dense_relu(), machine);
  EXPECT_EQ(lowered.problem.time(OpId{0}, DeviceId{0}), 7 * us);
}

}  // namespace
}  // namespace emplace::cost::measured_test
