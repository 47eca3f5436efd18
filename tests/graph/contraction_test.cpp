// contract_chains, coarsen, split_into_layers
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "emplace/base/error.hpp"
#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/graph/small_graphs.hpp"

namespace emplace::contraction_test {
namespace {

using test::add;
using ::testing::ElementsAre;

// x -> a -> b -> (c, d) -> e, with tensors of 4 bytes but for c's 400.
struct Diamond {
  Graph graph;
  Operand x = Operand::of(graph.add_input("x", DType::f32, {1}));
  Operand a = add(graph, "a", "Relu", {x}, {1});
  Operand b = add(graph, "b", "Relu", {a}, {1});
  Operand c = add(graph, "c", "Expand", {b}, {100});
  Operand d = add(graph, "d", "Relu", {b}, {1});
  Operand e = add(graph, "e", "Add", {c, d}, {100});
};

TEST(ContractChains, MergesOnlyEdgesThatAreTheOnlyOneAtBothEnds) {
  const PassResult result = contract_chains(Diamond{}.graph, ChainRule::chain);
  EXPECT_THAT(result.became, ElementsAre(OpId{0}, OpId{0}, OpId{1}, OpId{2}, OpId{3}));
}

TEST(ContractChains, TheReleasedRuleAlsoTakesInEveryChildOfAFork) {
  // b, c and d have one parent each; e has two.
  const PassResult result = contract_chains(Diamond{}.graph, ChainRule::single_parent);
  EXPECT_THAT(result.became, ElementsAre(OpId{0}, OpId{0}, OpId{0}, OpId{0}, OpId{1}));
}

TEST(ContractChains, CountsAControlDependencyAsAnEdge) {
  Diamond diamond;
  diamond.graph.ops[4].after = {OpId{0}};  // e waits for a: a has two successors
  EXPECT_EQ(contract_chains(diamond.graph, ChainRule::chain).graph.ops.size(), 5U);
}

TEST(Coarsen, MergesAcrossTheHeaviestSafeEdgeFirst) {
  Graph graph;
  Operand x = Operand::of(graph.add_input("x", DType::f32, {100}));
  for (const std::int64_t size : {100, 100, 300, 100})
    x = add(graph, "op" + std::to_string(graph.ops.size()), "Relu", {x}, {size});
  // The third op writes 1200 bytes for the fourth. Shares of FLOPs, bytes and ops: 3/6 + 4/12 + 1/4 and 1/6 + 4/12 +
  // 1/4 are together 1.83, below twice the mean of 3 in 3 groups.
  EXPECT_THAT(coarsen(graph, 3).became, ElementsAre(OpId{0}, OpId{1}, OpId{2}, OpId{2}));
}

TEST(Coarsen, ReachesANumberThatNoSafeEdgeLeadsTo) {
  // Two producers, each read by both consumers: no edge is the only one at either end.
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  const Operand a = add(graph, "a", "Relu", {x}, {4}), b = add(graph, "b", "Relu", {x}, {4});
  add(graph, "c", "Add", {a, b}, {4});
  add(graph, "d", "Mul", {a, b}, {4});
  for (const std::size_t groups : {1U, 2U, 3U, 4U, 9U}) {
    const Graph coarse = coarsen(graph, groups).graph;
    coarse.validate();
    EXPECT_EQ(coarse.ops.size(), std::min<std::size_t>(groups, 4));
  }
}

TEST(Coarsen, KeepsGroupsNearTheMeanWhereAllEdgesWeighTheSame) {
  Graph graph;
  Operand x = Operand::of(graph.add_input("x", DType::f32, {64}));
  for (int i = 0; i < 1000; ++i) x = add(graph, "op" + std::to_string(i), "Relu", {x}, {64});
  const PassResult result = coarsen(graph, 10);
  for (const std::vector<OpId>& members : result.origins()) EXPECT_LE(members.size(), 200U);  // twice the mean
}

TEST(SplitIntoLayers, TakesTheLayersThatTheModelNamesOnceForEachPhase) {
  Graph graph;
  Operand x = Operand::of(graph.add_input("x", DType::f32, {2, 4}));
  for (const char* layer : {"encoder/0", "encoder/1"}) {
    const std::string name = layer;
    const Operand w = Operand::of(graph.add_parameter(name + "/w", DType::f32, {4, 4}));
    GraphOp product = test::node(name + "/product", "MatMul", {x, w});
    GraphOp relu = test::node(name + "/relu", "Relu", {});
    product.layer = relu.layer = layer;
    relu.inputs = {add(graph, product, {2, 4})};
    x = add(graph, relu, {2, 4});
  }
  const PassResult result = split_into_layers(expand_training(graph, {}).graph, {});
  std::vector<std::string> names;
  for (const GraphOp& op : result.graph.ops) names.push_back(op.name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("encoder/0", "encoder/1", "grad/encoder/0", "grad/encoder/1",
                                                     "update/encoder/0", "update/encoder/1"));
}

TEST(SplitIntoLayers, SplitsALayerThatAPathEntersAgain) {
  Diamond diamond;
  for (const std::size_t op : {0U, 1U, 4U}) diamond.graph.ops[op].layer = "outer";
  for (const std::size_t op : {2U, 3U}) diamond.graph.ops[op].layer = "inner";
  const PassResult result = split_into_layers(diamond.graph, {});
  EXPECT_THAT(result.became, ElementsAre(OpId{0}, OpId{0}, OpId{1}, OpId{1}, OpId{2}));
  EXPECT_EQ(result.graph.ops[2].name, "outer#2");
}

TEST(SplitIntoLayers, CutsTheLongestPathIntoEqualWindowsWhereANumberIsGiven) {
  // Levels: a 0, b 1, c and d 2, e 3.
  const PassResult two = split_into_layers(Diamond{}.graph, {.layers = 2});
  EXPECT_THAT(two.became, ElementsAre(OpId{0}, OpId{0}, OpId{1}, OpId{1}, OpId{1}));
  EXPECT_EQ(two.graph.ops[1].name, "layer/1");
  EXPECT_EQ(split_into_layers(Diamond{}.graph, {.layers = 99}).graph.ops.size(), 4U);
}

TEST(SplitIntoLayers, AsksForANumberWhereTheModelNamesNoLayers) {
  EXPECT_THROW((void)split_into_layers(Diamond{}.graph, {}), InputError);
}

}  // namespace
}  // namespace emplace::contraction_test
