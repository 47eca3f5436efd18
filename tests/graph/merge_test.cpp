#include "graph/passes/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "tests/graph/small_graphs.hpp"

namespace emplace::merge_test {
namespace {

using test::add;
using test::find_op;
using test::node;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr std::uint32_t alone = Partition::alone;

// x (2 x 3) -> product (w 3 x 4) -> relu -> tanh
struct Chain {
  Graph graph;
  Operand x = Operand::of(graph.add_input("x", DType::f32, {2, 3}));
  Operand w = Operand::of(graph.add_parameter("w", DType::f32, {3, 4}));
  Operand product = add(graph, "product", "MatMul", {x, w}, {2, 4});
  Operand relu = add(graph, "relu", "Relu", {product}, {2, 4});
  Operand tanh = add(graph, "tanh", "Tanh", {relu}, {2, 4});
};

TEST(MergeOps, SumsCostsAndDropsTheTensorBetween) {
  const Chain chain;
  const PassResult result = merge_ops(chain.graph, {{{}}, {0, 0, alone}});
  result.graph.validate();
  ASSERT_EQ(result.graph.ops.size(), 2U);
  EXPECT_THAT(result.became, ElementsAre(OpId{0}, OpId{0}, OpId{1}));
  EXPECT_THAT(result.origins(), ElementsAre(ElementsAre(OpId{0}, OpId{1}), ElementsAre(OpId{2})));
  const GraphOp& merged = result.graph.ops[0];
  EXPECT_EQ(merged.name, "product");  // it has the most FLOPs
  EXPECT_EQ(merged.type, "MatmulLayer");
  EXPECT_THAT(merged.merged_types, ElementsAre(Pair("MatMul", 1U), Pair("Relu", 1U)));
  // 2 x 2 x 3 x 4 = 48 and 8 FLOPs. Read: x 24, w 48, and the product's result 32; written twice 32.
  const OpCost cost = cost_of(result.graph, OpId{0});
  EXPECT_EQ(cost.flops, 56);
  EXPECT_EQ(cost.bytes_read, 24 + 48 + 32);
  EXPECT_EQ(cost.bytes_written, 32 + 32);
  EXPECT_EQ(resident_bytes(result.graph, OpId{0}), 48);
  EXPECT_EQ(result.graph.ops[1].type, "Tanh");
  EXPECT_EQ(result.graph.tensors.size(), 3U);  // x, relu, tanh
}

TEST(MergeOps, CountsNeitherWriteNorReadOfWhatStaysInAFusedKernel) {
  const Chain chain;
  Partition partition{{{}}, {0, 0, alone}};
  partition.fused = true;
  const OpCost cost = cost_of(merge_ops(chain.graph, partition).graph, OpId{0});
  EXPECT_EQ(cost.flops, 56);
  EXPECT_EQ(cost.bytes_read, 24 + 48);
  EXPECT_EQ(cost.bytes_written, 32);
}

TEST(MergeOps, GivesAPartItsNameAndClassAndNumbersNamesThatAreTaken) {
  const Chain chain;
  const Partition partition{{{.name = "tanh", .cls = OpClass::reduction}, {.name = "tanh", .cls = {}}}, {0, 1, alone}};
  const Graph graph = merge_ops(chain.graph, partition).graph;
  EXPECT_EQ(graph.ops[0].name, "tanh#2");  // the Tanh stays and keeps its name
  EXPECT_EQ(graph.ops[0].type, "ReductionLayer");
  EXPECT_EQ(graph.ops[1].name, "tanh#3");
  EXPECT_EQ(graph.ops[1].type, "ElementwiseLayer");
  graph.validate();
}

TEST(MergeOps, RefusesAPartThatAPathLeavesAndEntersAgain) {
  const Chain chain;
  EXPECT_THROW((void)merge_ops(chain.graph, {{{}}, {0, alone, 0}}), BugError);
}

TEST(SplitCycles, CutsAPartWhereAPathComesBackToIt) {
  const Chain chain;
  Partition partition{{{.name = "ends", .cls = {}}}, {0, alone, 0}};
  split_cycles(chain.graph, partition);
  EXPECT_THAT(partition.part_of, ElementsAre(0U, alone, 1U));
  const Graph graph = merge_ops(chain.graph, partition).graph;
  EXPECT_EQ(graph.ops[0].name, "ends");
  EXPECT_EQ(graph.ops[2].name, "ends#2");
}

TEST(SplitCycles, LeavesPartsBesideACircleWhole) {
  // a0 -> b0 -> a1 closes a cycle of parts a and b; the part c behind it, of ops after a1 and of one without
  // producers, is in none.
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  const Operand a0 = add(graph, "a0", "Relu", {x}, {4});
  const Operand b0 = add(graph, "b0", "Relu", {a0}, {4});
  const Operand a1 = add(graph, "a1", "Relu", {b0}, {4});
  const Operand c0 = add(graph, "c0", "Relu", {x}, {4});
  add(graph, "c1", "Add", {a1, c0}, {4});
  Partition partition{{{}, {}, {}}, {0, 1, 0, 2, 2}};
  split_cycles(graph, partition);
  EXPECT_THAT(partition.part_of, ElementsAre(0U, 1U, 3U, 2U, 2U));
}

TEST(MergeOps, NamesTheTypesInsideThatHaveNoCost) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  const Operand y = add(graph, "y", "Unheard", {x}, {4});
  const Operand z = add(graph, "z", "Unheard", {y}, {4});
  add(graph, "relu", "Relu", {z}, {4});
  const Graph merged = merge_ops(graph, {{{}}, {0, 0, 0}}).graph;
  EXPECT_FALSE(cost_of(merged, OpId{0}).known_type);
  EXPECT_THAT(statistics(merged).uncosted_ops, ElementsAre(Pair("Unheard", 2U)));
  // Merged again, it still says so.
  const Graph again = merge_ops(merged, {{{}}, {0}}).graph;
  EXPECT_THAT(again.ops[0].merged_types, ElementsAre(Pair("Relu", 1U), Pair("Unheard", 2U)));
}

TEST(MergeOps, KeepsTheCostOfAGradientWhoseForwardOpGrows) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {5, 2, 3}));
  const Operand w = Operand::of(graph.add_parameter("w", DType::f32, {1, 16, 3}));
  const Operand r = Operand::of(graph.add_parameter("r", DType::f32, {1, 16, 4}));
  const Operand h = add(graph, "lstm", "LSTM", {x, w, r}, {5, 1, 2, 4});
  add(graph, "relu", "Relu", {h}, {5, 1, 2, 4});
  const Graph step = expand_training(graph, {}).graph;
  std::size_t lstm_grad = 0;
  for (std::size_t i = 0; i < step.ops.size(); ++i)
    if (step.ops[i].name.starts_with("grad/lstm")) lstm_grad = i;
  const double flops = cost_of(step, OpId{lstm_grad}).flops;
  ASSERT_GT(flops, 0);
  Partition forward{{{}}, std::vector<std::uint32_t>(step.ops.size(), alone)};
  forward.part_of[0] = forward.part_of[1] = 0;
  const PassResult merged = merge_ops(step, forward);
  EXPECT_EQ(cost_of(merged.graph, merged.became[lstm_grad]).flops, flops);
  EXPECT_EQ(merged.graph.ops[merged.became[lstm_grad].index()].forward_of, merged.became[0]);
}

TEST(MergeOps, MakesOneBufferOfTheWeightsOfOnePart) {
  Chain chain;
  const Operand b = Operand::of(chain.graph.add_parameter("b", DType::f32, {4}));
  const Operand steps = Operand::of(chain.graph.add_parameter("steps", DType::i64, {2}, false));
  add(chain.graph, "bias", "Add", {chain.tanh, b}, {2, 4});
  add(chain.graph, "odd", "Unheard", {chain.tanh, steps}, {2, 4});
  const Graph graph = merge_ops(chain.graph, {{{}}, {0, 0, 0, 0, 0}}).graph;
  // w and b are f32 and trained; steps is neither.
  ASSERT_EQ(graph.parameters.size(), 2U);
  EXPECT_EQ(graph.parameters[0].shape, (Shape{12 + 4}));
  EXPECT_EQ(graph.parameters[1].name, "steps");
  // With the bias on its own, b keeps its shape, on which the cost of an Add depends.
  EXPECT_EQ(merge_ops(chain.graph, {{{}}, {0, 0, 0, alone, 0}}).graph.parameters.size(), 3U);
}

TEST(MergeOps, JoinsTheCoLocationGroupsThatItTiesTogether) {
  Chain chain;
  chain.graph.ops[0].colocate = "first";
  chain.graph.ops[1].colocate = "second";
  chain.graph.ops[2].colocate = "second";
  const Graph graph = merge_ops(chain.graph, {{{}}, {0, 0, alone}}).graph;
  EXPECT_EQ(graph.ops[0].colocate, "first");
  EXPECT_EQ(graph.ops[1].colocate, "first");
}

TEST(MergeOps, CountsWhatAVariableHoldsOnce) {
  // As share_parameters leaves it: the Variable's output is the weight (64 bytes), which two products read.
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {2, 4}));
  const Operand v = add(graph, "variable", "Variable", {}, {4, 4});
  const Operand a = add(graph, "a", "MatMul", {x, v}, {2, 4});
  add(graph, "b", "MatMul", {a, v}, {2, 4});
  // Merged with all its readers it is state of their op; with one, still a tensor.
  EXPECT_EQ(resident_bytes(merge_ops(graph, {{{}}, {0, 0, 0}}).graph, OpId{0}), 64);
  const Graph one = merge_ops(graph, {{{}}, {0, 0, alone}}).graph;
  EXPECT_EQ(resident_bytes(one, OpId{0}), 0);
  EXPECT_EQ(one.tensors[1].bytes(), 64);

  // As a file has it: it names its parameter, which the op holds unless the output leaves.
  Graph file;
  const Operand y = Operand::of(file.add_input("x", DType::f32, {2, 4}));
  const Operand w = Operand::of(file.add_parameter("w", DType::f32, {4, 4}));
  const Operand read = add(file, "variable", "Variable", {w}, {4, 4});
  const Operand first = add(file, "a", "MatMul", {y, read}, {2, 4});
  add(file, "b", "MatMul", {first, read}, {2, 4});
  EXPECT_EQ(resident_bytes(merge_ops(file, {{{}}, {0, 0, 0}}).graph, OpId{0}), 64);
  EXPECT_EQ(resident_bytes(merge_ops(file, {{{}}, {0, 0, alone}}).graph, OpId{0}), 0);
}

TEST(PassResult, FollowsOneMapWithAnother) {
  const Chain chain;
  const PassResult first = merge_ops(chain.graph, {{{}}, {0, 0, alone}});
  const PassResult both = followed_by(first, merge_ops(first.graph, {{{}}, {0, 0}}));
  EXPECT_THAT(both.became, ElementsAre(OpId{0}, OpId{0}, OpId{0}));
  EXPECT_THROW((void)followed_by(first, first), BugError);
}

}  // namespace
}  // namespace emplace::merge_test
