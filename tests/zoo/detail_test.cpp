// The passes behind detail = "layer" and detail = "framework", and the sizes that they reach.
#include "zoo/detail.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "emplace/base/error.hpp"
#include "tests/zoo/figures.hpp"

namespace emplace::zoo::detail_test {
namespace {

// x -> MatMul(w) -> Relu -> MatMul(v) -> Tanh, with the first two and the last two ops as cells.
struct TwoCells {
  TwoCells() : model("two") {
    model.set_layer("all");
    Operand x = model.input("x", {2, 3});
    {
      const auto cell = model.cell("first");
      x = model.elementwise("relu", "Relu", {linear(model, "a", x, model.parameter("w", {3, 4}), Operand::none())});
    }
    const auto cell = model.cell("second");
    model.elementwise("tanh", "Tanh", {linear(model, "b", x, model.parameter("v", {4, 5}), Operand::none())});
  }
  ModelBuilder model;
};

TEST(MergeCells, SumsTheCostsOfACellAndKeepsTheTensorsBetweenCells) {
  TwoCells two;
  const Cells cells = two.model.cells();
  const PassResult merged = merge_cells(two.model.take(), cells);
  ASSERT_EQ(merged.graph.ops.size(), 2U);
  EXPECT_EQ(merged.graph.ops[0].type, "MatmulLayer");
  // MatMul 2 x 2 x 3 x 4 = 48, Relu 8. Bytes: x 24 + w 48 + out 32; in 32 + out 32.
  const OpCost cost = cost_of(merged.graph, OpId{0});
  EXPECT_EQ(cost.flops, 48 + 8);
  EXPECT_EQ(cost.bytes_read, 24 + 48 + 32);
  EXPECT_EQ(cost.bytes_written, 32 + 32);
  EXPECT_EQ(cost.cls, OpClass::matmul);
  // The result of the MatMul stays inside; relu leaves the first cell, tanh is the model's result.
  ASSERT_EQ(merged.graph.tensors.size(), 3U);
  EXPECT_EQ(merged.graph.tensors[1].name, "relu");
  EXPECT_EQ(merged.graph.tensors[2].name, "tanh");
  EXPECT_THAT(merged.became, ::testing::ElementsAre(OpId{0}, OpId{0}, OpId{1}, OpId{1}));
}

TEST(MergeCells, MakesOneForwardOneBackwardOpACellAndOneUpdateForItsWeights) {
  TwoCells two;
  const Cells cells = two.model.cells();
  const Graph training = expand_training(two.model.take(), {.optimizer = "adam"}).graph;
  const Graph graph = merge_cells(training, cells).graph;
  EXPECT_THAT(graph.ops.size(), 6U);
  std::set<std::string> names;
  Bytes state = 0;
  for (const GraphOp& op : graph.ops) {
    names.insert(op.name);
    state += op.state_bytes;
  }
  EXPECT_THAT(names, ::testing::ElementsAre("first", "grad/first", "grad/second", "second", "update/v", "update/w"));
  EXPECT_EQ(state, 2 * 4 * (12 + 20));  // Adam keeps two copies
}

TEST(MergeCells, CountsTheOutermostOfNestedCells) {
  ModelBuilder model("nested");
  model.set_layer("all");
  Operand x = model.input("x", {2});
  {
    const auto outer = model.cell("outer");
    const auto inner = model.cell("inner");
    x = model.elementwise("a", "Relu", {x});
  }
  model.elementwise("b", "Relu", {x});
  EXPECT_THAT(model.cells().names, ::testing::ElementsAre("outer"));
  EXPECT_THAT(model.cells().of_op, ::testing::ElementsAre(0, Cells::none));
}

TEST(MergeCells, RefusesACellThatAPathLeavesAndEntersAgain) {
  ModelBuilder model("bad");
  model.set_layer("all");
  const Operand x = model.input("x", {2});
  const Operand a = model.elementwise("a", "Relu", {x});
  const Operand b = model.elementwise("b", "Relu", {a});
  model.elementwise("c", "Relu", {b});
  EXPECT_THROW((void)merge_cells(model.take(), {{"cell"}, {0, Cells::none, 0}}), BugError);
}

TEST(MergeCells, MakesALstmStepAndAConvolutionUnitOneOp) {
  // Per step of a layer: one op, without its backward.
  const Graph rnnlm = build_zoo_model("rnnlm?sequence=5&layers=2&hidden=8&vocabulary=20&detail=layer");
  EXPECT_EQ(rnnlm.ops.size(), 1U + 2 * 5 + 1);  // embedding, steps, softmax
  // 94 convolutions, 4 maximum and 9 average pools, the concatenations of 11 modules, the classifier.
  const Graph inception = build_zoo_model("inception-v3?batch=1&detail=layer");
  EXPECT_EQ(inception.ops.size(), 94U + 4 + 9 + 11 + 1);
  EXPECT_EQ(count_of(inception, "ConvolutionLayer"), 94U);
}

TEST(FrameworkOps, AddsTheGradientOfAProductAsTensorFlowWritesIt) {
  // gradients/mul_grad in TensorFlow 1.x: Shape, Shape_1, BroadcastGradientArgs, mul, Sum, Reshape, mul_1, Sum_1,
  // Reshape_1, tuple/group_deps, tuple/control_dependency, tuple/control_dependency_1.
  ModelBuilder model("product");
  model.set_layer("all");
  const Operand x = model.parameter("x", {2, 3}), y = model.parameter("y", {2, 3});
  model.elementwise("mul", "Mul", {x, y});
  const Graph op = expand_training(model.take(), {}).graph;
  const Graph graph = add_framework_ops(op).graph;
  std::multiset<std::string> types;
  for (const GraphOp& added : graph.ops)
    if (added.name.find("grad/mul") != std::string::npos && added.type != "OutputGrad") types.insert(added.type);
  EXPECT_THAT(
      types, ::testing::UnorderedElementsAre("Constant", "Constant", "BroadcastGradientArgs", "Mul", "Mul", "ReduceSum",
                                             "ReduceSum", "Reshape", "Reshape", "NoOp", "Identity", "Identity"));
}

TEST(FrameworkOps, GivesEachParameterAVariableThatIsReadBeforeItsUsers) {
  const Graph graph = build_zoo_model("rnnlm?sequence=3&layers=1&hidden=8&vocabulary=20&detail=framework");
  EXPECT_EQ(count_of(graph, "Variable"), graph.parameters.size());
  for (const GraphParameter& parameter : graph.parameters)
    for (const OpId user : parameter.users) {
      bool waits_for_its_read = false;
      for (const OpId before : graph.ops[user.index()].after) {
        const GraphOp& op = graph.ops[before.index()];
        waits_for_its_read =
            waits_for_its_read || (op.type == "Identity" && op.colocate == "variable/" + parameter.name);
      }
      EXPECT_TRUE(waits_for_its_read) << parameter.name << " " << graph.ops[user.index()].name;
    }
}

TEST(FrameworkOps, MapsBackToTheOpsThatWereThere) {
  TwoCells two;
  const Graph op = expand_training(two.model.take(), {}).graph;
  const PassResult result = add_framework_ops(op);
  std::size_t kept = 0;
  const std::vector<std::vector<OpId>> origins = result.origins();
  for (std::size_t i = 0; i < origins.size(); ++i) {
    if (origins[i].empty()) continue;
    ++kept;
    EXPECT_EQ(result.graph.ops[i].name, op.ops[origins[i].front().index()].name);
  }
  EXPECT_EQ(kept, op.ops.size());
}

// The Hierarchical Planner's graphs: Inception-V3 24,713 ops, ResNet 20,586, RNNLM 9,021, NMT 28,044, 46,600 and 83,712
// with 2, 4 and 8 layers (9,278 ops more a layer, which is 50 time steps of about 93 ops in encoder and decoder); GDP:
// GNMT with 8 layers over 50,000. No paper states its optimiser or sequence lengths. He et al. 2016 train ResNet with
// momentum and weight decay (section 3.4).
TEST(FrameworkOps, ReachesTheSizesOfThePapers) {
  struct Published {
    const char* model;
    double ops, tolerance;
  };
  constexpr Published published[] = {{"inception-v3?optimizer=momentum", 24713, 0.05},
                                     {"resnet-152?optimizer=momentum&weight_decay=true", 20586, 0.05},
                                     {"rnnlm?batch=64", 9021, 0.05},
                                     {"nmt?layers=2&sequence=50", 28044, 0.15},
                                     {"nmt?layers=4&sequence=50", 46600, 0.10},
                                     {"nmt?layers=8&sequence=50", 83712, 0.05}};
  for (const Published& graph : published)
    EXPECT_NEAR(
        static_cast<double>(build_zoo_model(std::string(graph.model) + "&training=true&detail=framework").ops.size()),
        graph.ops, graph.tolerance * graph.ops)
        << graph.model;
  EXPECT_GT(build_zoo_model("gnmt?layers=8&training=true&detail=framework").ops.size(), 50000U);
}

TEST(FrameworkOps, GrowsLinearlyWithTheSequence) {
  const auto ops = [](int sequence) {
    return build_zoo_model("gnmt?layers=2&hidden=8&vocabulary=20&batch=2&training=true&detail=framework&sequence=" +
                           std::to_string(sequence))
        .ops.size();
  };
  EXPECT_EQ(ops(12) - ops(11), ops(6) - ops(5));
}

}  // namespace
}  // namespace emplace::zoo::detail_test
