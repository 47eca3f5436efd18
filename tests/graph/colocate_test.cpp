#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/passes/passes.hpp"
#include "tests/graph/small_graphs.hpp"

namespace emplace::colocate_test {
namespace {

using test::add;
using test::find_op;
using test::node;
using ::testing::ElementsAre;

std::vector<std::string> groups_of(const Graph& graph) {
  std::vector<std::string> groups;
  for (const GraphOp& op : graph.ops) groups.push_back(op.colocate);
  return groups;
}

TEST(Colocate, BindsAVariableWithItsReadAndItsUpdateButNotWithItsUsers) {
  Graph graph;
  const Operand v = add(graph, "v", "Variable", {}, {4});
  const Operand read = add(graph, "v/read", "Identity", {v}, {4});
  const Operand y = add(graph, "use", "Relu", {read}, {4});
  add(graph, "direct", "Add", {v, y}, {4});
  add(graph, "assign", "AssignAdd", {v, y}, {4});
  EXPECT_THAT(groups_of(colocate(graph, {}).graph), ElementsAre("coloc/v", "coloc/v", "", "", "coloc/v"));
  EXPECT_THAT(groups_of(colocate(graph, {.variables = false}).graph), ::testing::Each(""));
}

TEST(Colocate, BindsGradientsWithTheirForwardOpAndKeepsGroupsThatAreThere) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {2, 4}));
  const Operand w = Operand::of(graph.add_parameter("w", DType::f32, {4, 4}));
  add(graph, "relu", "Relu", {add(graph, "product", "MatMul", {x, w}, {2, 4})}, {2, 4});
  const Graph step = colocate(share_parameters(expand_training(graph, {}).graph).graph, {}).graph;
  std::size_t gradients = 0;
  for (const GraphOp& op : step.ops) {
    if (op.phase != Phase::backward) continue;
    ++gradients;
    EXPECT_EQ(op.colocate, step.ops[op.forward_of.index()].colocate) << op.name;
  }
  EXPECT_GE(gradients, 3U);
  // The weight has one user, which share_parameters has bound to the update.
  EXPECT_EQ(find_op(step, "update/w")->colocate, "op/product");
  EXPECT_EQ(find_op(step, "product")->colocate, "op/product");
  EXPECT_EQ(find_op(step, "relu")->colocate, "coloc/relu");
}

// a -> b -> (c, d) -> e: b has two consumers, e none.
Graph fork_and_join() {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  const Operand b = add(graph, "b", "Relu", {add(graph, "a", "Relu", {x}, {4})}, {4});
  const Operand c = add(graph, "c", "Relu", {b}, {4}), d = add(graph, "d", "Tanh", {b}, {4});
  add(graph, "e", "Add", {c, d}, {4});
  return graph;
}

TEST(Colocate, JoinsEachOpWithItsOnlyConsumerAsColocRlDoes) {
  const Graph graph = colocate(fork_and_join(), {.recursion = ColocateOptions::Recursion::op}).graph;
  EXPECT_THAT(groups_of(graph), ElementsAre("coloc/a", "coloc/a", "coloc/c", "coloc/c", "coloc/c"));
}

TEST(Colocate, CollapsesAGraphOfOneSinkWhereTheRuleIsRepeatedOnGroups) {
  // {c, d, e} is the only consumer group of {a, b}.
  const Graph graph = colocate(fork_and_join(), {.recursion = ColocateOptions::Recursion::group}).graph;
  EXPECT_THAT(groups_of(graph), ::testing::Each("coloc/a"));
}

TEST(Colocate, FindsAFreeNameForANewGroup) {
  Graph graph = fork_and_join();
  graph.ops[4].colocate = "coloc/a";
  const Graph bound = colocate(graph, {.recursion = ColocateOptions::Recursion::op}).graph;
  EXPECT_THAT(groups_of(bound), ElementsAre("coloc/a_", "coloc/a_", "coloc/a", "coloc/a", "coloc/a"));
}

}  // namespace
}  // namespace emplace::colocate_test
