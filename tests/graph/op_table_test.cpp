#include "graph/ops/op_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/graph/small_graphs.hpp"

namespace emplace::op_table_test {
namespace {

using test::add;
using test::node;

Operand input(Graph& graph, Shape shape, DType dtype = DType::f32) {
  return Operand::of(graph.add_input("in" + std::to_string(graph.tensors.size()), dtype, std::move(shape)));
}
Operand weight(Graph& graph, Shape shape) {
  return Operand::of(graph.add_parameter("w" + std::to_string(graph.parameters.size()), DType::f32, std::move(shape)));
}
OpCost last(const Graph& graph) { return cost_of(graph, OpId{graph.ops.size() - 1}); }

TEST(OpTable, CountsTwoFlopsForEachMultiplyAddOfAConvolution) {
  Graph graph;
  const Operand x = input(graph, {1, 3, 8, 8});
  // 16 x 8 x 8 outputs, each of 3 x 3 x 3 = 27 multiply-adds: 2 x 27 x 1024 = 55296; the bias adds 1024.
  add(graph, "conv", "Conv", {x, weight(graph, {16, 3, 3, 3})}, {1, 16, 8, 8});
  EXPECT_EQ(last(graph).flops, 55296);
  EXPECT_EQ(last(graph).cls, OpClass::convolution);
  // Reads 192 + 432 floats, writes 1024.
  EXPECT_EQ(last(graph).bytes_read, 4 * (192 + 432));
  EXPECT_EQ(last(graph).bytes_written, 4 * 1024);
  add(graph, "biased", "Conv", {x, weight(graph, {16, 3, 3, 3}), weight(graph, {16})}, {1, 16, 8, 8});
  EXPECT_EQ(last(graph).flops, 55296 + 1024);
}

TEST(OpTable, PutsAConvolutionWithOneChannelAGroupIntoItsOwnClass) {
  Graph graph;
  GraphOp conv = node("dw", "Conv", {input(graph, {1, 32, 10, 10}), weight(graph, {32, 1, 3, 3})});
  conv.attributes["group"] = std::int64_t{32};
  add(graph, conv, {1, 32, 10, 10});
  // 3200 outputs of 9 multiply-adds.
  EXPECT_EQ(last(graph).flops, 2 * 3200 * 9);
  EXPECT_EQ(last(graph).cls, OpClass::depthwise);
}

TEST(OpTable, CountsMatrixProductsWithBatchesAndTransposes) {
  Graph graph;
  // 2 x 5 rows of 7, times 7 x 3: 30 outputs x 7 multiply-adds.
  add(graph, "batched", "MatMul", {input(graph, {2, 5, 7}), input(graph, {2, 7, 3})}, {2, 5, 3});
  EXPECT_EQ(last(graph).flops, 2 * 30 * 7);
  GraphOp transposed = node("transposed", "MatMul", {input(graph, {5, 7}), input(graph, {5, 3})});
  transposed.attributes["transA"] = std::int64_t{1};
  add(graph, transposed, {7, 3});
  EXPECT_EQ(last(graph).flops, 2 * 21 * 5);
  // 4 x 6 outputs, 9 multiply-adds and one addition each.
  add(graph, "gemm", "Gemm", {input(graph, {4, 9}), input(graph, {9, 6}), input(graph, {6})}, {4, 6});
  EXPECT_EQ(last(graph).flops, 2 * 24 * 9 + 24);
}

// 3 queries of width 4 and 5 keys, in 2 heads: 2 x 2 x (3 x 4 x 5) FLOPs for the scores, as many for the values, and 5
// for each of the 2 x 3 x 5 scores. ONNX may hold the heads side by side in the width.
TEST(OpTable, CountsTheProductsAndTheSoftmaxOfAttention) {
  Graph graph;
  add(graph, "apart", "ScaledDotProductAttention",
      {input(graph, {1, 2, 3, 4}), input(graph, {1, 2, 5, 4}), input(graph, {1, 2, 5, 4})}, {1, 2, 3, 4});
  EXPECT_EQ(last(graph).flops, 2 * 240 + 5 * 30);
  EXPECT_EQ(last(graph).cls, OpClass::matmul);
  GraphOp together =
      node("together", "Attention", {input(graph, {1, 3, 8}), input(graph, {1, 5, 8}), input(graph, {1, 5, 8})});
  together.attributes["q_num_heads"] = std::int64_t{2};
  add(graph, together, {1, 3, 8});
  EXPECT_EQ(last(graph).flops, 2 * 240 + 5 * 30);
  EXPECT_EQ(statistics(graph).flops_by_class, (std::map<OpClass, double>{{OpClass::matmul, 2 * 630}}));
}

TEST(OpTable, CountsAnEinsumByItsIndices) {
  Graph graph;
  GraphOp product = node("product", "Einsum", {input(graph, {2, 3, 4}), input(graph, {2, 4, 5})});
  product.attributes["equation"] = std::string("bij,bjk->bik");
  add(graph, product, {2, 3, 5});
  EXPECT_EQ(last(graph).flops, 2 * 2 * 3 * 4 * 5);
  GraphOp sum = node("sum", "Einsum", {input(graph, {3, 4})});
  sum.attributes["equation"] = std::string("ij->i");
  add(graph, sum, {3});
  EXPECT_EQ(last(graph).flops, 12);
}

TEST(OpTable, TakesOnlyTheTypeOfASecondOperandThatGivesTheType) {
  Graph graph;
  add(graph, "cast", "CastLike", {input(graph, {10}, DType::i64), input(graph, {1000})}, {10});
  EXPECT_EQ(last(graph).bytes_read, 8 * 10);
  EXPECT_EQ(last(graph).bytes_written, 4 * 10);
}

TEST(OpTable, CountsAsParametersWhatTrainingFindsAndNoOtherConstant) {
  Graph graph;
  const auto constant = [&](const char* name, DType type, Shape shape) {
    return Operand::of(graph.add_parameter(name, type, std::move(shape), false));
  };
  const Operand kernel = constant("kernel", DType::f16, {8, 3, 3, 3});
  const Operand scale = constant("scale", DType::f32, {8}), shift = constant("shift", DType::f32, {8});
  const Operand mean = constant("mean", DType::f32, {8});
  const Operand variance = add(graph, "variance", "Constant", {constant("v", DType::f32, {8})}, {8});
  const Operand x = add(graph, "conv", "Conv", {input(graph, {1, 3, 5, 5}), kernel}, {1, 8, 3, 3});
  const Operand y = add(graph, "norm", "BatchNormalization", {x, scale, shift, mean, variance}, {1, 8, 3, 3});
  add(graph, "view", "Reshape", {y, constant("size", DType::i64, {2})}, {8, 9});
  add(graph, "masked", "Where", {constant("mask", DType::boolean, {8, 9}), y, constant("least", DType::f32, {})},
      {8, 9});
  add(graph, "quantised", "DequantizeLinear", {constant("codes", DType::i8, {8, 9})}, {8, 9});
  add(graph, "larger", "Resize", {x, constant("factors", DType::f32, {4})}, {1, 8, 6, 6});
  // The kernel, scale and shift, and the quantised codes.
  EXPECT_EQ(statistics(graph).weights, 8 * 27 + 8 + 8 + 8 * 9);
}

TEST(OpTable, CountsEveryWeightOfAnLstmOnceAStepAndSample) {
  Graph graph;
  // 3 steps x 2 samples, 5 inputs, 4 hidden, 1 direction: W 1x16x5, R 1x16x4; gates 16 x 6 FLOPs.
  add(graph, "lstm", "LSTM", {input(graph, {3, 2, 5}), weight(graph, {1, 16, 5}), weight(graph, {1, 16, 4})},
      {3, 1, 2, 4});
  EXPECT_EQ(last(graph).flops, 6 * (2 * (80 + 64) + 6 * 16));
  EXPECT_EQ(last(graph).cls, OpClass::recurrent);
}

TEST(OpTable, LaunchesARecurrentOpOnceForEachStepAndDirection) {
  Graph graph;
  const auto weights = [&](std::int64_t directions) {
    return std::pair{weight(graph, {directions, 16, 5}), weight(graph, {directions, 16, 4})};
  };
  const auto [w, r] = weights(1);
  add(graph, "lstm", "LSTM", {input(graph, {7, 2, 5}), w, r}, {7, 1, 2, 4});
  EXPECT_EQ(last(graph).launches, 7);
  const auto [both_w, both_r] = weights(2);
  add(graph, "both", "GRU", {input(graph, {7, 2, 5}), both_w, both_r}, {7, 2, 2, 4});
  EXPECT_EQ(last(graph).launches, 14);
  add(graph, "batch_first", "RNN", {input(graph, {2, 7, 5}), w, r}, {2, 7, 1, 4});
  graph.ops.back().attributes["layout"] = std::int64_t{1};
  EXPECT_EQ(last(graph).launches, 7);
  add(graph, "one_step", "LSTM", {input(graph, {1, 2, 5}), w, r}, {1, 1, 2, 4});
  EXPECT_EQ(last(graph).launches, 1);
  add(graph, "open", "LSTM", {input(graph, {Shape::unknown_dimension, 2, 5}), w, r}, {1, 1, 2, 4});
  EXPECT_EQ(last(graph).launches, 1);
}

TEST(OpTable, ReadsOnlyTheRowsThatAGatherFetches) {
  Graph graph;
  add(graph, "lookup", "Gather", {weight(graph, {30000, 8}), input(graph, {10}, DType::i32)}, {10, 8});
  EXPECT_EQ(last(graph).bytes_read, 10 * 8 * 4 + 10 * 4);
  EXPECT_EQ(last(graph).bytes_written, 10 * 8 * 4);
  EXPECT_EQ(last(graph).cls, OpClass::embedding);
}

TEST(OpTable, ReadsAnOperandOnceThatStandsAtTwoPositions) {
  Graph graph;
  const Operand x = input(graph, {10});
  add(graph, "square", "Mul", {x, x}, {10});
  EXPECT_EQ(last(graph).bytes_read, 40);
}

TEST(OpTable, MovesNothingForViews) {
  Graph graph;
  add(graph, "view", "Reshape", {input(graph, {4, 4})}, {16});
  EXPECT_EQ(last(graph).bytes_read + last(graph).bytes_written, 0);
  EXPECT_EQ(last(graph).cls, OpClass::free);
}

TEST(OpTable, SaysThatATypeOrASizeIsUnknownAndStillCountsTheTraffic) {
  Graph graph;
  const Operand x = input(graph, {10});
  add(graph, "mystery", "NoSuchOp", {x}, {10});
  EXPECT_FALSE(last(graph).known_type);
  EXPECT_TRUE(last(graph).known_shapes);
  EXPECT_EQ(last(graph).bytes_read, 40);
  add(graph, "dynamic", "Relu", {x}, {Shape::unknown_dimension});
  EXPECT_TRUE(last(graph).known_type);
  EXPECT_FALSE(last(graph).known_shapes);
  const GraphStatistics sums = statistics(graph);
  EXPECT_EQ(sums.uncosted_ops, (std::map<std::string, std::size_t>{{"NoSuchOp", 1}}));
  EXPECT_EQ(sums.uncosted_bytes, 80);  // 10 floats read, 10 written
  EXPECT_EQ(sums.unknown_tensors, std::vector<std::string>{"dynamic"});
  EXPECT_EQ(sums.tensors, 2U);
  EXPECT_EQ(sums.static_tensors, 1U);
}

TEST(OpTable, HasARowForEveryTypeOfTheModelsThatReadersAreTestedWith) {
  // All node types of the ONNX files of the reader tests; `If` is control flow and stays out on purpose.
  for (const char* type : {"Add",
                           "AveragePool",
                           "BatchNormalization",
                           "Cast",
                           "Clip",
                           "Concat",
                           "Constant",
                           "ConstantOfShape",
                           "Conv",
                           "ConvTranspose",
                           "Div",
                           "Dropout",
                           "Equal",
                           "Erf",
                           "Expand",
                           "Flatten",
                           "Gather",
                           "Gemm",
                           "GlobalAveragePool",
                           "HardSigmoid",
                           "Identity",
                           "LRN",
                           "LSTM",
                           "LeakyRelu",
                           "MatMul",
                           "Max",
                           "MaxPool",
                           "Mul",
                           "Not",
                           "Pad",
                           "Pow",
                           "ReduceMean",
                           "Relu",
                           "Reshape",
                           "Resize",
                           "Shape",
                           "Sigmoid",
                           "Size",
                           "Slice",
                           "Softmax",
                           "Sqrt",
                           "Squeeze",
                           "Sub",
                           "Sum",
                           "Tanh",
                           "Transpose",
                           "Unsqueeze",
                           "Where"})
    EXPECT_TRUE(is_known_type(type)) << type;
  EXPECT_FALSE(is_known_type("If"));
}

TEST(OpTable, NamesEveryClassDifferently) {
  std::set<std::string> names;
  for (const OpClass cls : op_classes()) names.insert(name_of(cls));
  EXPECT_EQ(names.size(), op_classes().size());
}

TEST(OpTable, KeepsParametersOnceAndStateResident) {
  Graph graph;
  const Operand w = weight(graph, {10});
  add(graph, "twice", "Mul", {w, w}, {10});
  graph.ops[0].state_bytes = 7;
  EXPECT_EQ(resident_bytes(graph, OpId{0}), 47);
}

TEST(OpTable, StopsSumsOfSizesAtTwoToThe62) {
  Graph graph;
  const Shape huge{std::int64_t{1} << 60};  // 2^62 bytes of f32
  add(graph, "sum", "Add", {input(graph, huge), input(graph, huge)}, huge);
  EXPECT_EQ(last(graph).bytes_read, total_limit);
  EXPECT_EQ(statistics(graph).bytes, total_limit);
}

}  // namespace
}  // namespace emplace::op_table_test
