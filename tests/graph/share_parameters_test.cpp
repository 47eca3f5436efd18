#include <gtest/gtest.h>

#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/graph/small_graphs.hpp"

namespace emplace::share_parameters_test {
namespace {

using test::add;
using test::find_op;
using test::node;
using test::ops_of_type;

struct Net {
  Graph graph;
  Operand x = Operand::of(graph.add_input("x", DType::f32, {2, 4}));
};

TEST(ShareParameters, LeavesAParameterWithItsOnlyUser) {
  Net net;
  const Operand w = Operand::of(net.graph.add_parameter("w", DType::f32, {4, 4}));
  add(net.graph, "product", "MatMul", {net.x, w}, {2, 4});
  const PassResult result = share_parameters(net.graph);
  ASSERT_EQ(result.graph.ops.size(), 1U);
  EXPECT_EQ(resident_bytes(result.graph, OpId{0}), 64);
}

TEST(ShareParameters, MakesAVariableOfAParameterWithSeveralUsers) {
  Net net;
  const Operand w = Operand::of(net.graph.add_parameter("w", DType::f32, {4, 4}));
  GraphOp first = node("first", "MatMul", {net.x, w});
  first.layer = "encoder/0";
  const Operand y = add(net.graph, first, {2, 4});
  add(net.graph, "second", "MatMul", {y, w}, {2, 4});
  const PassResult result = share_parameters(net.graph);
  result.graph.validate();
  const auto variables = ops_of_type(result.graph, "Variable");
  ASSERT_EQ(variables.size(), 1U);
  EXPECT_EQ(variables[0]->layer, "encoder/0");
  EXPECT_EQ(variables[0]->colocate, "");
  const GraphTensor& value = result.graph.tensors[variables[0]->outputs[0].index()];
  EXPECT_EQ(value.bytes(), 64);
  EXPECT_EQ(value.consumers.size(), 2U);
  // The bytes are those of the output: no op holds them as resident as well.
  for (std::size_t i = 0; i < result.graph.ops.size(); ++i) EXPECT_EQ(resident_bytes(result.graph, OpId{i}), 0);
  EXPECT_TRUE(result.origins()[0].empty());
  EXPECT_EQ(result.became[0], OpId{1});
  EXPECT_EQ(statistics(result.graph).parameters, 16);
}

// TensorFlow's Adam: beta1 is read by the updates of all weights and by the product that makes its next power.
TEST(ShareParameters, DoesNotMoveAnUpdateToTheOpThatReadsItsConstant) {
  Net net;
  const Operand beta = Operand::of(net.graph.add_parameter("beta1", DType::f32, {}, false));
  GraphOp update = node("update", "ApplyAdam", {net.x, beta});
  update.phase = Phase::update;
  update.colocate = "weight";
  add(net.graph, update, {2, 4});
  GraphOp power = node("power", "Mul", {net.x, beta});
  power.colocate = "bias";
  add(net.graph, power, {2, 4});
  const Graph shared = share_parameters(net.graph).graph;
  EXPECT_EQ(find_op(shared, "update")->colocate, "weight");
  EXPECT_EQ(find_op(shared, "power")->colocate, "bias");
}

TEST(ShareParameters, CoLocatesAnUpdateWithTheVariableOrWithTheOnlyUser) {
  Net net;
  const Operand w = Operand::of(net.graph.add_parameter("w", DType::f32, {4, 4}));
  const Operand b = Operand::of(net.graph.add_parameter("b", DType::f32, {4}));
  const Operand y = add(net.graph, "product", "MatMul", {net.x, w}, {2, 4});
  const Operand z = add(net.graph, "again", "MatMul", {y, w}, {2, 4});
  add(net.graph, "bias", "Add", {z, b}, {2, 4});
  const Graph step = share_parameters(expand_training(net.graph, {.optimizer = "momentum"}).graph).graph;
  step.validate();
  // w: two products and a product of the backward pass use it. b: its addition alone.
  const GraphOp *variable = find_op(step, "variable/w"), *update_w = find_op(step, "update/w"),
                *update_b = find_op(step, "update/b"), *bias = find_op(step, "bias");
  ASSERT_TRUE(variable && update_w && update_b && bias);
  EXPECT_EQ(update_w->colocate, variable->colocate);
  EXPECT_NE(update_w->colocate, "");
  EXPECT_EQ(update_b->colocate, bias->colocate);
  EXPECT_NE(update_b->colocate, "");
  EXPECT_NE(update_b->colocate, update_w->colocate);
  // The update reads the Variable; b's bytes stay with the addition, its momentum with the update.
  EXPECT_EQ(update_w->inputs[0], Operand::of(variable->outputs[0]));
  EXPECT_EQ(update_b->inputs[0], Operand::none());
  const auto resident = [&](const GraphOp* op) {
    return resident_bytes(step, OpId{static_cast<std::size_t>(op - step.ops.data())});
  };
  EXPECT_EQ(resident(bias), 16);
  EXPECT_EQ(resident(update_b), 16);
  EXPECT_EQ(resident(update_w), 64);
  EXPECT_EQ(resident(variable), 0);
}

TEST(ShareParameters, KeepsTheGroupThatTheOnlyUserAlreadyHas) {
  Net net;
  const Operand b = Operand::of(net.graph.add_parameter("b", DType::f32, {4}));
  GraphOp bias = node("bias", "Add", {net.x, b});
  bias.colocate = "stage0";
  add(net.graph, bias, {2, 4});
  const Graph step = share_parameters(expand_training(net.graph, {}).graph).graph;
  EXPECT_EQ(find_op(step, "update/b")->colocate, "stage0");
}

TEST(ShareParameters, MovesForwardOpsAlongWithTheirNewIds) {
  Net net;
  const Operand w = Operand::of(net.graph.add_parameter("w", DType::f32, {4, 4}));
  const Operand y = add(net.graph, "product", "MatMul", {net.x, w}, {2, 4});
  add(net.graph, "again", "MatMul", {y, w}, {2, 4});
  const Graph before = expand_training(net.graph, {}).graph;
  const PassResult result = share_parameters(before);
  for (std::size_t i = 0; i < before.ops.size(); ++i) {
    const GraphOp& op = result.graph.ops[result.became[i].index()];
    const OpId was = before.ops[i].forward_of;
    ASSERT_EQ(op.forward_of.is_none(), was.is_none());
    if (was.is_none()) continue;
    EXPECT_EQ(result.graph.ops[op.forward_of.index()].name, before.ops[was.index()].name);
  }
}

}  // namespace
}  // namespace emplace::share_parameters_test
