#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/graph/small_graphs.hpp"

namespace emplace::fuse_test {
namespace {

using test::add;
using test::find_op;
using test::names_of;
using test::node;

// Convolutions of 1 x 8 x 4 x 4 images (512 bytes) with 8 x 8 x 1 x 1 weights.
struct Net {
  const Shape image{1, 8, 4, 4};
  Graph graph;
  Operand x = Operand::of(graph.add_input("x", DType::f32, image));

  Operand conv(const std::string& name, const Operand& from) {
    const Operand w = Operand::of(graph.add_parameter(name + "/w", DType::f32, {8, 8, 1, 1}));
    return add(graph, name, "Conv", {from, w}, image);
  }
  Operand batch_norm(const std::string& name, const Operand& from, bool training = false) {
    std::vector<Operand> inputs{from};
    for (const char* part : {"/scale", "/shift", "/mean", "/variance"})
      inputs.push_back(Operand::of(graph.add_parameter(name + part, DType::f32, {8})));
    GraphOp op = node(name, "BatchNormalization", inputs);
    if (training) op.attributes["training_mode"] = std::int64_t{1};
    return add(graph, op, image);
  }
  Operand relu(const std::string& name, const Operand& from) { return add(graph, name, "Relu", {from}, image); }
};

TEST(Fuse, TakesNormalisationAndActivationIntoTheConvolution) {
  Net net;
  net.relu("relu", net.batch_norm("bn", net.conv("conv", net.x)));
  const PassResult result = fuse(net.graph);
  result.graph.validate();
  ASSERT_THAT(names_of(result.graph), ::testing::ElementsAre("conv"));
  EXPECT_EQ(result.graph.ops[0].type, "ConvolutionLayer");
  // FLOPs: 2 x 8 x 128 + 2 x 128 + 128. Read: the image, 64 weights, 4 x 8 figures; written: one image.
  const OpCost cost = cost_of(result.graph, OpId{0});
  EXPECT_EQ(cost.flops, 2048 + 256 + 128);
  EXPECT_EQ(cost.bytes_read, 512 + 4 * 64 + 4 * 32);
  EXPECT_EQ(cost.bytes_written, 512);
}

TEST(Fuse, LeavesTheStatisticsOfABatchAPassOfTheirOwn) {
  Net net;
  net.relu("relu", net.batch_norm("bn", net.conv("conv", net.x), true));
  EXPECT_THAT(names_of(fuse(net.graph).graph), ::testing::ElementsAre("conv", "bn", "relu"));
}

TEST(Fuse, AddsAResidualInTheLaterConvolution) {
  Net net;
  const Operand left = net.conv("left", net.x);
  const Operand right = net.conv("right", net.relu("inner", net.conv("first", net.x)));
  net.relu("relu", add(net.graph, "add", "Add", {left, right}, net.image));
  const PassResult result = fuse(net.graph);
  EXPECT_THAT(names_of(result.graph), ::testing::UnorderedElementsAre("left", "first", "right"));
  const GraphOp* right_op = find_op(result.graph, "right");
  EXPECT_THAT(right_op->merged_types, ::testing::ElementsAre(::testing::Pair("Add", 1U), ::testing::Pair("Conv", 1U),
                                                             ::testing::Pair("Relu", 1U)));
}

TEST(Fuse, KeepsAResultThatIsReadTwiceOrHasAnotherShape) {
  Net net;
  // x * sigmoid(x), as exporters write Swish: the convolution has two readers, the sigmoid one.
  const Operand conv = net.conv("conv", net.x);
  const Operand sigmoid = add(net.graph, "sigmoid", "Sigmoid", {conv}, net.image);
  const Operand swish = add(net.graph, "swish", "Mul", {conv, sigmoid}, net.image);
  // A mean over the image is broadcast by the sum.
  const Operand mean =
      add(net.graph, "mean", "Tanh", {Operand::of(net.graph.add_input("m", DType::f32, {1, 8, 1, 1}))}, {1, 8, 1, 1});
  add(net.graph, "sum", "Add", {swish, mean}, net.image);
  const PassResult result = fuse(net.graph);
  EXPECT_EQ(result.graph.ops.size(), 3U);  // conv; sigmoid, swish and sum; mean
  EXPECT_EQ(result.became[1], result.became[2]);
  EXPECT_EQ(result.became[1], result.became[4]);
}

TEST(Fuse, DoesNotPassAnOpThatWaitsForTheResult) {
  Net net;
  const Operand conv = net.conv("conv", net.x);
  GraphOp waits = node("waits", "Tanh", {net.x});
  waits.after = {OpId{0}};
  add(net.graph, waits, net.image);
  GraphOp relu = node("relu", "Relu", {conv});
  relu.after = {OpId{1}};
  add(net.graph, relu, net.image);
  EXPECT_EQ(fuse(net.graph).graph.ops.size(), 3U);
}

TEST(Fuse, KeepsPhasesAndCoLocationGroupsApart) {
  Net net;
  net.relu("relu", net.conv("conv", net.x));
  net.graph.ops[0].colocate = "a";
  EXPECT_EQ(fuse(net.graph).graph.ops.size(), 1U);
  net.graph.ops[1].colocate = "b";
  EXPECT_EQ(fuse(net.graph).graph.ops.size(), 2U);
  net.graph.ops[1].colocate = "";
  net.graph.ops[1].phase = Phase::backward;
  EXPECT_EQ(fuse(net.graph).graph.ops.size(), 2U);
}

TEST(Fuse, LeavesTensorsOfUnknownSizeAlone) {
  Net net;
  const Shape open{Shape::unknown_dimension, 8};
  const Operand x = Operand::of(net.graph.add_input("y", DType::f32, open));
  add(net.graph, "b", "Relu", {add(net.graph, "a", "Relu", {x}, open)}, open);
  EXPECT_EQ(fuse(net.graph).graph.ops.size(), 2U);
}

}  // namespace
}  // namespace emplace::fuse_test
