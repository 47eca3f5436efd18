#include "cost/lower.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/roofline.hpp"
#include "emplace/base/error.hpp"
#include "emplace/problem/problem.hpp"
#include "tests/cost/small_graphs.hpp"

namespace emplace::cost::lower_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr Ticks us = 1'000'000;
const RooflineOptions as_is{.prune = false, .training = false, .optimizer = "sgd"};

std::string error_of(const Graph& graph, const machine::Machine& machine, const RooflineOptions& options = as_is) {
  try {
    lower(graph, machine, options, "g");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Lower, MakesTheSameProblemOfAGraphThatItMayGiveUp) {
  const Graph graph = dense_relu();
  for (const bool training : {false, true}) {
    Graph given_up = graph;
    RooflineOptions options = as_is;
    options.training = training;
    const Lowered kept = lower(graph, two_speeds(), options, "g", {}, true);
    const Lowered moved = lower(std::move(given_up), two_speeds(), options, "g", {}, true);
    EXPECT_TRUE(same_but_for_the_name(kept.problem, moved.problem));
    EXPECT_EQ(kept.became, moved.became);
    ASSERT_EQ(kept.other_costs.size(), moved.other_costs.size());
    EXPECT_EQ(kept.other_costs.front().seconds, moved.other_costs.front().seconds);
    EXPECT_TRUE(given_up.ops.empty()) << "its memory is free before the problem is made";
  }
}

TEST(Lower, TimesOpsByTheHigherSideOfTheRoofline) {
  const Problem p = lower(dense_relu(), two_speeds(), as_is, "dense").problem;
  // MatMul 100 x 200 by 200 x 300 in f32: 2 * 100 * 200 * 300 = 12e6 FLOPs; (20000 + 60000 + 30000) * 4 = 440000 bytes.
  //   fast: max(12e6 / (1e12 * 0.5) = 24 us, 440000 / 1e11 = 4.4 us) + 10 us = 34 us     limited by compute
  //   slow: max(12e6 / 1e10 = 1200 us, 440000 / 1e10 = 44 us) = 1200 us
  EXPECT_EQ(p.time(OpId{0}, DeviceId{0}), 34 * us);
  EXPECT_EQ(p.time(OpId{0}, DeviceId{1}), 1200 * us);
  // Relu on 100 x 300: 30000 FLOPs; 30000 * 4 read and as many written = 240000 bytes.
  //   fast: max(30000 / (1e12 * 0.1) = 0.3 us, 240000 / 1e11 = 2.4 us) + 10 us = 12.4 us   limited by memory
  //   slow: max(30000 / 1e10 = 3 us, 240000 / 1e10 = 24 us) = 24 us
  EXPECT_EQ(p.time(OpId{1}, DeviceId{0}), 12'400'000);
  EXPECT_EQ(p.time(OpId{1}, DeviceId{1}), 24 * us);
}

TEST(Lower, SmallOpsReachASmallerShareOfThePeakAndOfTheBandwidth) {
  machine::Machine machine = two_speeds();
  machine.devices[0].half_flops = {{"matmul", 12e6}};
  machine.devices[0].memory_efficiency = {{"elementwise", 0.5}};
  machine.devices[0].half_bytes = {{"elementwise", 60000}};
  const Problem p = lower(dense_relu(), machine, as_is, "dense").problem;
  // MatMul: 12e6 FLOPs at a half size of as many reach half of 5e11: 48 us, and 10 us launch.
  EXPECT_EQ(p.time(OpId{0}, DeviceId{0}), 58 * us);
  // Relu: (240000 + 60000) / (1e11 * 0.5) = 6 us, and 10 us launch.
  EXPECT_EQ(p.time(OpId{1}, DeviceId{0}), 16 * us);
}

TEST(Lower, TheEfficiencyOfAnOpTypeGoesBeforeThatOfItsClass) {
  machine::Machine machine = two_speeds();
  machine.devices[0].efficiency["ggml.mul_mat_id"] = 0.25;
  EXPECT_EQ(lower(dense_relu(), machine, as_is, "dense").problem.time(OpId{0}, DeviceId{0}), 34 * us);  // not its type
  Graph experts = dense_relu();
  experts.ops[0].type = "ggml.mul_mat_id";
  const Problem p = lower(experts, machine, as_is, "experts").problem;
  // 12e6 FLOPs at a quarter of 1e12: 48 us, and 10 us launch. The other device names no such figure: 1e10.
  EXPECT_EQ(p.time(OpId{0}, DeviceId{0}), 58 * us);
  EXPECT_EQ(p.time(OpId{0}, DeviceId{1}), 1200 * us);
}

TEST(Lower, WhatDoesNotOverlapAddsUp) {
  machine::Machine machine = two_speeds();
  machine.devices[0].overlap = 0.25;
  // MatMul: 24 us of arithmetic and 4.4 us of traffic, a quarter of which hides: 24 + 3.3 + 10 us.
  EXPECT_EQ(lower(dense_relu(), machine, as_is, "dense").problem.time(OpId{0}, DeviceId{0}), 37'300'000);
}

TEST(Lower, KeepsNamesTypesParametersAndTensorsAndDropsTheGraphsInputs) {
  const Lowered lowered = lower(dense_relu(), two_speeds(), as_is, "dense");
  const Problem& p = lowered.problem;
  EXPECT_EQ(p.name, "dense");
  EXPECT_THAT(p.op_names, ElementsAre("dense", "relu"));
  EXPECT_THAT(p.op_types, ElementsAre("MatMul", "Relu"));
  EXPECT_THAT(p.resident, ElementsAre(200 * 300 * 4, 0));
  EXPECT_THAT(p.tensor_bytes, ElementsAre(100 * 300 * 4, 100 * 300 * 4));
  EXPECT_THAT(p.consumers[0], ElementsAre(1));
  EXPECT_THAT(p.consumers[1], SizeIs(0));
  EXPECT_THAT(lowered.origin, ElementsAre(OpId{0}, OpId{1}));
  EXPECT_EQ(lowered.graph.ops.size(), 2u);
  EXPECT_TRUE(cost_warnings(lowered).empty());
}

TEST(Lower, TakesDevicesChannelsAndRoutesFromTheMachine) {
  const Problem p = lower(dense_relu(), two_speeds(), as_is, "dense").problem;
  ASSERT_EQ(p.device_count(), 2u);
  EXPECT_EQ(p.devices[0].name, "fast");
  EXPECT_EQ(p.devices[0].kind, "gpu");
  EXPECT_EQ(p.devices[0].memory, 1 << 20);
  EXPECT_EQ(p.devices[1].memory, no_memory_limit);
  EXPECT_TRUE(p.has_route(DeviceId{0}, DeviceId{1}));
  EXPECT_FALSE(p.has_route(DeviceId{1}, DeviceId{0}));
  // 120000 bytes over 1e9 bytes/s after 5 us.
  EXPECT_EQ(p.transfer(TensorId{0}, DeviceId{0}, DeviceId{1}), 125 * us);
  EXPECT_FALSE(p.channels[0].contention);
}

TEST(Lower, AParameterOfSeveralOpsBecomesAnOpThatHoldsIt) {
  Graph g;
  const auto x = g.add_input("x", DType::f32, {10, 10});
  const auto w = g.add_parameter("w", DType::f32, {10, 10});
  const auto first = g.add_op(op("first", "MatMul", {Operand::of(x), Operand::of(w)}));
  const auto y = g.add_output(first, "y", DType::f32, {10, 10});
  const auto second = g.add_op(op("second", "MatMul", {Operand::of(y), Operand::of(w)}));
  g.add_output(second, "z", DType::f32, {10, 10});
  const Lowered lowered = lower(g, two_speeds(), as_is, "tied");
  const Problem& p = lowered.problem;
  ASSERT_EQ(p.op_count(), 3u);
  std::size_t variable = 0;
  while (lowered.graph.ops[variable].type != "Variable") ++variable;
  EXPECT_TRUE(lowered.origin[variable].is_none());
  // Counted once: as the tensor that the op hands out, not a second time as resident bytes.
  EXPECT_THAT(p.resident, Each(0));
  ASSERT_THAT(p.outputs[variable], SizeIs(1));
  EXPECT_EQ(p.tensor_bytes[p.outputs[variable][0]], 400);
  EXPECT_THAT(p.consumers[p.outputs[variable][0]], SizeIs(2));
  // It does no work and is not launched: 0 s, which rounds up to one tick.
  EXPECT_EQ(p.time(OpId{variable}, DeviceId{0}), 1);
}

TEST(Lower, ControlDependenciesAreOneTensorOfZeroBytesAnOp) {
  Graph g = dense_relu();
  for (const char* name : {"late", "later"}) {
    GraphOp waits = op(name, "Relu", {Operand::of(TensorId{2})});
    waits.after = {OpId{0}};
    g.add_output(g.add_op(std::move(waits)), std::string(name) + ":0", DType::f32, {100, 300});
  }
  const Problem p = lower(g, two_speeds(), as_is, "control").problem;
  ASSERT_EQ(p.tensor_count(), 5u);  // four outputs, one control
  EXPECT_EQ(p.tensor_bytes[4], 0);
  EXPECT_EQ(p.producer[4], OpId{0});
  EXPECT_THAT(p.consumers[4], ElementsAre(2, 3));
}

TEST(Lower, CoLocationGroupsOfTheGraphBecomeThoseOfTheProblem) {
  Graph g = dense_relu();
  g.ops[0].colocate = g.ops[1].colocate = "layer";
  const Problem p = lower(g, two_speeds(), as_is, "g").problem;
  EXPECT_THAT(p.group_names, ElementsAre("layer"));
  EXPECT_THAT(p.group, ElementsAre(GroupId{0}, GroupId{0}));
}

TEST(Lower, OpsThatADeviceDoesNotSupportCannotRunThere) {
  machine::Machine machine = two_speeds();
  machine.devices[0].unsupported = {"Relu"};
  const Problem p = lower(dense_relu(), machine, as_is, "g").problem;
  EXPECT_FALSE(p.can_run(OpId{1}, DeviceId{0}));
  EXPECT_TRUE(p.can_run(OpId{1}, DeviceId{1}));
  EXPECT_TRUE(p.can_run(OpId{0}, DeviceId{0}));
  machine.devices[1].unsupported = {"Relu"};
  EXPECT_EQ(error_of(dense_relu(), machine), "g: no device can run op 'relu'");
}

TEST(Lower, ANumberTypeWithoutAPeakTakesTheDefaultOrIsRefused) {
  Graph g;
  const auto a = g.add_input("a", DType::i32, {1000, 1000});
  g.add_output(g.add_op(op("add", "Add", {Operand::of(a), Operand::of(a)})), "b", DType::i32, {1000, 1000});
  machine::Machine machine = two_speeds();
  machine.devices[1].peak_flops = {{"f32", 1e10}, {"default", 1e7}};
  EXPECT_EQ(error_of(g, machine),
            "g: op 'add' computes in i32, for which device 'fast' gives no peak_flops; add one, or a default");
  machine.devices[0].unsupported = {"Add"};  // nothing to compute there, so no peak is missing
  // 1e6 additions at 1e7 a second (the default), efficiency 1.
  EXPECT_EQ(lower(g, machine, as_is, "g").problem.time(OpId{0}, DeviceId{1}), 100'000 * us);
}

TEST(Lower, OpsOfUnknownTypeAreTimedByTheirTrafficAndReportedWithTheirShare) {
  Graph g = dense_relu();
  g.ops[1].type = "Mystery";
  const Lowered lowered = lower(g, two_speeds(), as_is, "g");
  EXPECT_EQ(lowered.problem.time(OpId{1}, DeviceId{0}), 12'400'000);  // 240000 bytes / 1e11 + 10 us
  EXPECT_THAT(
      cost_warnings(lowered),
      ElementsAre("1 of 2 ops (50 %) have a type that is not in the cost table; they are timed by their "
                  "memory traffic alone, gradients also by twice the FLOPs of their forward op: 'Mystery' (1)"));
}

TEST(Lower, TensorsWithoutASizeCountNothingAndAreNamed) {
  Graph g = dense_relu();
  g.tensors[2].shape = Shape{Shape::unknown_dimension, 300};
  const Lowered lowered = lower(g, two_speeds(), as_is, "g");
  EXPECT_THAT(lowered.problem.tensor_bytes, ElementsAre(120000, 0));
  EXPECT_THAT(
      cost_warnings(lowered),
      ElementsAre("1 tensors or parameters have no known size and count 0 bytes: 'activations'; 1 of 2 ops (50 %) "
                  "have outputs of unknown size: 'Relu' (1)"));
}

TEST(Lower, RefusedTypesThatNothingKnowsAreReportedAsLikelySlips) {
  machine::Machine machine = two_speeds();
  machine.devices[0].unsupported = {"LTSM", "LSTM"};
  EXPECT_THAT(cost_warnings(lower(dense_relu(), machine, as_is, "g")),
              ElementsAre(HasSubstr("perhaps misspelt: fast: 'LTSM'")));
}

TEST(Lower, ExpandsAForwardGraphToATrainingStepOnceOnly) {
  RooflineOptions options = as_is;
  options.training = true;
  const Lowered training = lower(dense_relu(), two_speeds(), options, "g");
  EXPECT_GT(training.problem.op_count(), 2u);
  EXPECT_THAT(error_of(training.graph, two_speeds(), options), HasSubstr("g: the graph is a training step already"));
}

TEST(Lower, AnOptimisersStateStaysInMemory) {
  RooflineOptions options = as_is;
  options.training = true;
  const auto resident = [&](const char* optimizer) {
    options.optimizer = optimizer;
    const Problem p = lower(dense_relu(), two_speeds(), options, "g").problem;
    Bytes sum = 0;
    for (const Bytes bytes : p.resident) sum += bytes;
    return sum;
  };
  // The only parameter is 200 x 300 in f32; momentum keeps one copy more, Adam two.
  EXPECT_EQ(resident("sgd"), 240000);
  EXPECT_EQ(resident("momentum"), 480000);
  EXPECT_EQ(resident("adam"), 720000);
}

TEST(Lower, AGraphThatPruningEmptiesIsRefused) {
  Graph g;
  const auto w = g.add_parameter("w", DType::f32, {4}, false);
  g.add_output(g.add_op(op("double", "Add", {Operand::of(w), Operand::of(w)})), "b", DType::f32, {4});
  RooflineOptions options;
  EXPECT_EQ(error_of(g, two_speeds(), options),
            "g: nothing is left to place: the graph has 1 ops and pruning folded all of them");
  EXPECT_THAT(error_of(Graph{}, two_speeds()), HasSubstr("nothing is left to place"));
}

TEST(ComputeDtype, IsTheFloatingPointTypeOfTheOutputsThenTheOperands) {
  Graph g;
  const auto x = g.add_input("x", DType::f16, {8});
  const auto index = g.add_input("i", DType::i64, {8});
  const auto add = [&](const char* name, std::vector<Operand> inputs, DType output) {
    const OpId id = g.add_op(op(name, name, std::move(inputs)));
    g.add_output(id, std::string(name) + ":0", output, {8});
    return id;
  };
  EXPECT_EQ(compute_dtype(g, add("ArgMax", {Operand::of(x)}, DType::i64)), DType::f16);
  EXPECT_EQ(compute_dtype(g, add("Greater", {Operand::of(x), Operand::of(x)}, DType::boolean)), DType::f16);
  EXPECT_EQ(compute_dtype(g, add("Gather", {Operand::of(x), Operand::of(index)}, DType::f16)), DType::f16);
  EXPECT_EQ(compute_dtype(g, add("Cast", {Operand::of(x)}, DType::f32)), DType::f32);
  EXPECT_EQ(compute_dtype(g, add("Add", {Operand::of(index), Operand::of(index)}, DType::i64)), DType::i64);
  EXPECT_EQ(compute_dtype(g, add("Range", {}, DType::unknown)), DType::unknown);
}

TEST(Lower, LaunchesTheKernelsOfABranchOneByOne) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  GraphOp branch;
  branch.name = branch.type = "If";
  branch.inputs = {x};
  branch.attributes = {{"body_flops", 0.0}, {"body_launches", 43.0}};
  const OpId op = graph.add_op(std::move(branch));
  graph.add_output(op, "y", DType::f32, {4});
  // The fast device launches a kernel in 10 us, the slow one in no time.
  const Problem p = lower(graph, two_speeds(), as_is, "branch").problem;
  EXPECT_EQ(p.time(OpId{0}, DeviceId{0}), 44 * 10 * us);
}

TEST(Lower, LaunchesAnLstmOnceForEachTimeStepAndDirection) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {50, 2, 5}));
  const Operand w = Operand::of(graph.add_parameter("w", DType::f32, {2, 16, 5}));
  const Operand r = Operand::of(graph.add_parameter("r", DType::f32, {2, 16, 4}));
  const OpId id = graph.add_op(op("lstm", "LSTM", {x, w, r}));
  graph.add_output(id, "y", DType::f32, {50, 2, 2, 4});
  machine::Machine machine = two_speeds();
  const Ticks with = lower(graph, machine, as_is, "g").problem.time(OpId{0}, DeviceId{0});
  machine.devices[0].launch_overhead_s = 0;
  EXPECT_EQ(with - lower(graph, machine, as_is, "g").problem.time(OpId{0}, DeviceId{0}), 100 * 10 * us);
}

}  // namespace
}  // namespace emplace::cost::lower_test
