// Programs of torch.export (.pt2), good ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/formats/model_text.hpp"
#include "tests/formats/program_json.hpp"

namespace emplace::formats::pytorch_test {
namespace {

using namespace program;
using ::testing::ElementsAre;

Graph read(const Program& program, const ReadOptions& options = {}) {
  return read_model_text(program.archive(), "m.pt2", options);
}

double flops(const Graph& graph, const std::string& op) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].name == op) return cost_of(graph, OpId{i}).flops;
  throw std::runtime_error("no op " + op);
}

// A convolution, an activation, a flattening and a linear layer, for any number of images.
Program small_network(const Json& batch) {
  Program program;
  program.weight("p_conv_weight", "features.0.weight", {4, 3, 3, 3}).weight("p_conv_bias", "features.0.bias", {4});
  program.weight("p_linear_weight", "head.weight", {10, 144}).weight("p_linear_bias", "head.bias", {10});
  program.input("x", {batch, 3, 8, 8});
  program.node("torch.ops.aten.conv2d.default", "conv2d",
               {{"input", tensor("x")}, {"weight", tensor("p_conv_weight")}, {"bias", tensor("p_conv_bias")}},
               {batch, 4, 6, 6}, "features.0");
  program.node("torch.ops.aten.relu.default", "relu", {{"self", tensor("conv2d")}}, {batch, 4, 6, 6}, "features.1");
  program.node("torch.ops.aten.flatten.using_ints", "flatten", {{"self", tensor("relu")}, {"start_dim", whole(1)}},
               {batch, 144});
  program.node("torch.ops.aten.linear.default", "linear",
               {{"input", tensor("flatten")}, {"weight", tensor("p_linear_weight")}, {"bias", tensor("p_linear_bias")}},
               {batch, 10}, "head");
  return program;
}

TEST(PytorchReader, ReadsNodesWeightsAndTheModulesThatCallThem) {
  const Graph graph = read(small_network(2));
  ASSERT_EQ(graph.ops.size(), 4U);
  EXPECT_EQ(op_named(graph, "conv2d").type, "Conv");
  EXPECT_EQ(op_named(graph, "conv2d").module, "features/0");
  EXPECT_EQ(op_named(graph, "conv2d").layer, "features/0");
  EXPECT_EQ(op_named(graph, "linear").layer, "head");
  EXPECT_EQ(op_named(graph, "flatten").module, "");
  EXPECT_EQ(tensor_named(graph, "conv2d").shape.str(), "2x4x6x6");
  ASSERT_EQ(graph.parameters.size(), 4U);
  EXPECT_EQ(graph.parameters[0].name, "features.0.weight");
  EXPECT_TRUE(graph.parameters[0].trainable);
  // 2 x 4 x 6 x 6 outputs, each of 3 x 3 x 3 multiply-adds and a bias.
  EXPECT_EQ(flops(graph, "conv2d"), 288 * (2 * 27 + 1));
  EXPECT_EQ(flops(graph, "linear"), 20 * (2 * 144 + 1));
  EXPECT_EQ(flops(graph, "flatten"), 0);
  EXPECT_TRUE(statistics(graph).uncosted_ops.empty());
}

TEST(PytorchReader, GivesOpenSizesTheValuesOfTheShapesAndTheBatch) {
  const Program program = small_network("s0");
  EXPECT_EQ(tensor_named(read(program), "linear").shape.str(), "?x10");
  EXPECT_EQ(tensor_named(read(program, sized({{"x", {5, 3, 8, 8}}})), "linear").shape.str(), "5x10");
  EXPECT_EQ(tensor_named(read(program, ReadOptions{.shapes = {}, .batch = 7}), "linear").shape.str(), "7x10");
}

TEST(PytorchReader, ComputesSizesThatAreExpressionsOfTheInputs) {
  Program program;
  program.input("ids", {"s0", "s1"}, 5);
  const std::string s0 = "Symbol('s0', integer=True)", s1 = "Symbol('s1', integer=True)";
  program.node("torch.ops.aten.relu.default", "pooled", {{"self", tensor("ids")}},
               {"Mul(Integer(2), " + s0 + ")", "FloorDiv(Add(" + s1 + ", Integer(3)), Integer(4))",
                "Max(Integer(1), Mod(" + s1 + ", Integer(5)))"});
  const Graph graph = read(program, sized({{"ids", {3, 13}}}));
  EXPECT_EQ(tensor_named(graph, "pooled").shape.str(), "6x4x3");
}

TEST(PytorchReader, MakesTiedWeightsOneParameterAndDropsBuffersThatNothingReads) {
  Program program;
  program.weight("p_in", "embed.weight", {100, 8}, "weight_0").weight("p_out", "head.weight", {100, 8}, "weight_0");
  program.buffer("b_mean", "norm.mean", {8}).buffer("b_count", "norm.count", {}, 5);
  program.input("ids", {1, 4}, 5);
  program.node("torch.ops.aten.embedding.default", "embedding",
               {{"weight", tensor("p_in")}, {"indices", tensor("ids")}}, {1, 4, 8});
  program.node("torch.ops.aten.sub.Tensor", "sub", {{"self", tensor("embedding")}, {"other", tensor("b_mean")}},
               {1, 4, 8});
  program.node("torch.ops.aten.linear.default", "linear", {{"input", tensor("sub")}, {"weight", tensor("p_out")}},
               {1, 4, 100});
  const Graph graph = read(program);
  ASSERT_EQ(graph.parameters.size(), 2U);
  EXPECT_EQ(graph.parameters[0].users.size(), 2U);
  EXPECT_FALSE(graph.parameters[1].trainable);
  EXPECT_EQ(statistics(graph).parameters, 808);
  EXPECT_EQ(statistics(graph).weights, 800);  // not the buffer
  EXPECT_EQ(op_named(graph, "embedding").type, "Gather");
}

// x += 1 changes the data that the earlier slice of x shows, so what reads the slice afterwards waits for it.
TEST(PytorchReader, ReadersOfDataThatWasOverwrittenInPlaceWaitForTheWriter) {
  Program program;
  program.input("x", {4, 4});
  program.node("torch.ops.aten.slice.Tensor", "slice_1", {{"self", tensor("x")}}, {2, 4});
  program.node("torch.ops.aten.relu.default", "before", {{"self", tensor("slice_1")}}, {2, 4});
  program.node("torch.ops.aten.add_.Tensor", "add_", {{"self", tensor("x")}, {"other", whole(1)}}, {4, 4});
  program.node("torch.ops.aten.neg.default", "after", {{"self", tensor("slice_1")}}, {2, 4});
  program.node("torch.ops.aten.neg.default", "own", {{"self", tensor("add_")}}, {4, 4});
  const Graph graph = read(program);
  EXPECT_EQ(op_named(graph, "add_").type, "Add");
  EXPECT_TRUE(op_named(graph, "before").after.empty());
  EXPECT_THAT(op_named(graph, "after").after, ElementsAre(OpId{2}));
  EXPECT_TRUE(op_named(graph, "own").after.empty());  // it reads the result
}

TEST(PytorchReader, ViewsCostNothingAndReshapesOfTransposedDataAreCopies) {
  Program program;
  program.input("x", {2, 3, 4});
  program.value("t", {2, 4, 3}, 7, {12, 1, 4});
  program.node_giving("torch.ops.aten.transpose.int", "t",
                      {{"self", tensor("x")}, {"dim0", whole(1)}, {"dim1", whole(2)}}, {tensor("t")});
  program.node("torch.ops.aten.reshape.default", "copied", {{"self", tensor("t")}}, {24});
  program.node("torch.ops.aten.reshape.default", "viewed", {{"self", tensor("x")}}, {24});
  const Graph graph = read(program);
  const OpCost transpose = cost_of(graph, OpId{0}), copied = cost_of(graph, OpId{1}), viewed = cost_of(graph, OpId{2});
  EXPECT_EQ(transpose.bytes_read + transpose.bytes_written, 0);
  EXPECT_EQ(viewed.bytes_read + viewed.bytes_written, 0);
  EXPECT_EQ(copied.bytes_read, 96);
  EXPECT_EQ(copied.bytes_written, 96);
}

TEST(PytorchReader, PutsTheOperandsOfAddmmInTheOrderOfGemm) {
  Program program;
  program.weight("bias", "b", {5}).weight("w", "w", {3, 5}).input("x", {2, 3});
  program.node("torch.ops.aten.addmm.default", "addmm",
               {{"self", tensor("bias")}, {"mat1", tensor("x")}, {"mat2", tensor("w")}}, {2, 5});
  const Graph graph = read(program);
  EXPECT_EQ(graph.ops[0].type, "Gemm");
  EXPECT_TRUE(graph.ops[0].inputs[0].is_tensor());
  EXPECT_EQ(flops(graph, "addmm"), 10 * (2 * 3 + 1));
}

// Two layers of 4 units on 3 steps of 2 samples with 5 features: W is 16 x 5 and 16 x 4, R is 16 x 4 twice.
TEST(PytorchReader, CountsEachLayerOfAStackOfLstms) {
  Program program;
  program.input("x", {3, 2, 5}).input("h", {2, 2, 4}).input("c", {2, 2, 4});
  program.weight("w0", "l.w0", {16, 5}).weight("r0", "l.r0", {16, 4}).weight("b0", "l.b0", {16});
  program.weight("w1", "l.w1", {16, 4}).weight("r1", "l.r1", {16, 4}).weight("b1", "l.b1", {16});
  program.value("y", {3, 2, 4}).value("hn", {2, 2, 4}).value("cn", {2, 2, 4});
  program.node_giving("torch.ops.aten.lstm.input", "lstm",
                      {{"input", tensor("x")},
                       {"hx", tensors({"h", "c"})},
                       {"params", tensors({"w0", "r0", "b0", "w1", "r1", "b1"})},
                       {"batch_first", truth(false)}},
                      {tensor("y"), tensor("hn"), tensor("cn")});
  const Graph graph = read(program);
  ASSERT_EQ(graph.ops[0].outputs.size(), 3U);
  EXPECT_EQ(flops(graph, "lstm"), 6 * (2 * (16 * 5 + 3 * 16 * 4) + 6 * 2 * 16));
  EXPECT_EQ(cost_of(graph, OpId{0}).launches, 3 * 2);
}

TEST(PytorchReader, CountsAnEinsumOverTheIndicesOfBothOperands) {
  Program program;
  program.input("a", {2, 3, 4}).input("b", {2, 4, 5});
  program.node("torch.ops.aten.einsum.default", "einsum",
               {{"equation", {{"as_string", "bij,bjk->bik"}}}, {"tensors", tensors({"a", "b"})}}, {2, 3, 5});
  EXPECT_EQ(flops(read(program), "einsum"), 2 * 2 * 3 * 4 * 5);
}

// Two branches, of 4 x 4 and of 4 x 8 multiply-adds for one row; the second adds its bias too.
TEST(PytorchReader, AConditionCostsAsMuchAsItsBranchWithMoreFlops) {
  Program program;
  program.input("x", {1, 4}).input("w", {4, 4}).input("v", {8, 4}).input("p", {}, 12);
  const auto branch = [](const std::string& weight, std::int64_t units) {
    Program body;
    body.value("x", {1, 4}).value(weight, {units, 4});
    body.graph["inputs"] = {tensor("x"), tensor(weight)};
    body.node("torch.ops.aten.linear.default", "y", {{"input", tensor("x")}, {"weight", tensor(weight)}}, {1, units});
    body.graph["outputs"] = {tensor("y")};
    return Json{{"as_graph", {{"name", "branch"}, {"graph", body.graph}}}};
  };
  program.value("out", {1, 4});
  program.node_giving("torch.ops.higher_order.cond", "cond",
                      {{"", tensor("p")}, {"", branch("w", 4)}, {"", branch("v", 8)}, {"", tensors({"x", "w", "v"})}},
                      {tensors({"out"})});
  const Graph graph = read(program);
  EXPECT_EQ(graph.ops[0].type, "If");
  EXPECT_EQ(flops(graph, "cond"), 2 * 4 * 8);
}

TEST(PytorchReader, ASubgraphThatRunsOnceIsReplacedByItsNodes) {
  Program body;
  body.value("arg", {1, 4});
  body.graph["inputs"] = {tensor("arg")};
  body.node("torch.ops.aten.relu.default", "relu", {{"self", tensor("arg")}}, {1, 4});
  body.graph["outputs"] = {tensor("relu")};
  Program program;
  program.input("x", {1, 4});
  program.value("out", {1, 4});
  program.node_giving(
      "torch.ops.higher_order.wrap_with_set_grad_enabled", "wrap",
      {{"", truth(false)}, {"", {{"as_graph", {{"name", "g"}, {"graph", body.graph}}}}}, {"", tensor("x")}},
      {tensors({"out"})});
  program.node("torch.ops.aten.neg.default", "neg", {{"self", tensor("out")}}, {1, 4});
  const Graph graph = read(program);
  ASSERT_EQ(graph.ops.size(), 2U);
  EXPECT_EQ(graph.ops[0].name, "wrap.relu");
  EXPECT_EQ(graph.tensors[graph.ops[1].inputs[0].index].producer, OpId{0});
}

TEST(PytorchReader, NamesAndCountsOperatorsOfOtherLibraries) {
  Program program;
  program.input("x", {1, 4});
  program.node("torch.ops.mine.fancy.default", "fancy", {{"x", tensor("x")}}, {1, 4});
  program.node("torch.ops.aten.no_such_op.default", "other", {{"x", tensor("fancy")}}, {1, 4});
  const GraphStatistics sums = statistics(read(program));
  EXPECT_EQ(sums.uncosted_ops, (std::map<std::string, std::size_t>{{"aten.no_such_op", 1}, {"mine.fancy", 1}}));
  EXPECT_EQ(sums.uncosted_bytes, 4 * 16);
}

// Backward pass of y = x W^T + b: dW is 10 x 144 from 2 rows, dx is 2 x 144 from 10 units, and db is a sum.
TEST(PytorchReader, ALinearLayersGradientsAreTwoProductsAndASum) {
  const Graph step = expand_training(read(small_network(2)), {}).graph;
  step.validate();
  std::map<std::string, int> types;
  for (const GraphOp& op : step.ops)
    if (op.phase == Phase::backward && op.forward_of == OpId{3}) ++types[op.type];
  EXPECT_EQ(types["MatMul"] + types["Gemm"], 2);
  EXPECT_EQ(types["ReduceSum"], 1);
  EXPECT_TRUE(statistics(step).uncosted_ops.empty());
}

TEST(PytorchReader, AFactorThatIsANumberScalesTheGradientToo) {
  Program program;
  program.weight("w", "w", {6}).input("x", {6});
  program.node("torch.ops.aten.mul.Tensor", "product", {{"self", tensor("w")}, {"other", tensor("x")}}, {6});
  program.node("torch.ops.aten.div.Tensor", "half", {{"self", tensor("product")}, {"other", whole(2)}}, {6});
  const Graph step = expand_training(read(program), {}).graph;
  int divisions = 0;
  for (const GraphOp& op : step.ops) divisions += op.type == "Div" && op.phase == Phase::backward ? 1 : 0;
  EXPECT_EQ(divisions, 1);
  EXPECT_TRUE(statistics(step).uncosted_ops.empty());
}

}  // namespace
}  // namespace emplace::formats::pytorch_test
