#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/graph/small_graphs.hpp"

namespace emplace::training_test {
namespace {

using test::add;
using test::find_op;
using test::node;
using test::ops_of_type;
using ::testing::HasSubstr;

double flops_of(const Graph& graph, Phase phase) {
  double flops = 0;
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].phase == phase) flops += cost_of(graph, OpId{i}).flops;
  return flops;
}

// The one op of `type` whose forward op is called `forward`.
const GraphOp& backward_op(const Graph& graph, const std::string& type, const std::string& forward) {
  for (const GraphOp& op : graph.ops)
    if (op.type == type && op.phase == Phase::backward && graph.ops[op.forward_of.index()].name == forward) return op;
  throw std::runtime_error("no " + type + " of " + forward);
}

Operand input(Graph& graph, Shape shape) {
  return Operand::of(graph.add_input("in" + std::to_string(graph.tensors.size()), DType::f32, std::move(shape)));
}
Operand weight(Graph& graph, Shape shape) {
  return Operand::of(graph.add_parameter("w" + std::to_string(graph.parameters.size()), DType::f32, std::move(shape)));
}

TEST(ExpandTraining, TurnsAProductWithAWeightIntoTwoProductsAndOneUpdate) {
  Graph graph;
  const Operand x = input(graph, {5, 7});
  const Operand first = add(graph, "first", "MatMul", {x, weight(graph, {7, 6})}, {5, 6});
  add(graph, "second", "MatMul", {first, weight(graph, {6, 3})}, {5, 3});
  const Graph step = expand_training(graph, {}).graph;
  step.validate();
  // The second product has dA and dB, the first only dB: the gradient of the model's input is not needed.
  // Forward MatMul 2, backward 3; FLOPs: forward 2(5 6 7) + 2(5 3 6), backward 2(5 6 7) + 2 x 2(5 3 6).
  EXPECT_EQ(ops_of_type(step, "MatMul").size(), 5U);
  EXPECT_EQ(flops_of(step, Phase::forward), 420 + 180);
  EXPECT_EQ(flops_of(step, Phase::backward), 420 + 2 * 180 + 15);  // 15: the gradient of the 5 x 3 output
  EXPECT_EQ(ops_of_type(step, "ApplyGradientDescent").size(), 2U);
}

TEST(ExpandTraining, DoublesTheFlopsOfAConvolutionalNetUpToItsFirstLayer) {
  Graph graph;
  Operand x = input(graph, {2, 3, 16, 16});
  std::int64_t channels = 3;
  double first = 0;
  for (int layer = 0; layer < 4; ++layer) {
    const std::string name = "conv" + std::to_string(layer);
    x = add(graph, name, "Conv", {x, weight(graph, {8, channels, 3, 3})}, {2, 8, 16, 16});
    if (layer == 0) first = cost_of(graph, OpId{0}).flops;
    x = add(graph, name + "/relu", "Relu", {x}, {2, 8, 16, 16});
    channels = 8;
  }
  const Graph step = expand_training(graph, {}).graph;
  double forward = 0, backward = 0;
  for (std::size_t i = 0; i < step.ops.size(); ++i)
    if (step.ops[i].type.starts_with("Conv"))
      (step.ops[i].phase == Phase::forward ? forward : backward) += cost_of(step, OpId{i}).flops;
  EXPECT_EQ(backward, 2 * forward - first);
  EXPECT_EQ(ops_of_type(step, "ConvGradInput").size(), 3U);
  EXPECT_EQ(ops_of_type(step, "ConvGradWeight").size(), 4U);
  EXPECT_EQ(ops_of_type(step, "ReluGrad").size(), 4U);
}

TEST(ExpandTraining, AddsUpTheGradientsOfATensorAndOfAParameterWithSeveralUsers) {
  Graph graph;
  const Operand w = weight(graph, {4, 4});
  const Operand a = add(graph, "a", "MatMul", {input(graph, {2, 4}), w}, {2, 4});
  const Operand b = add(graph, "b", "MatMul", {a, w}, {2, 4});
  add(graph, "c", "Add", {a, b}, {2, 4});
  const Graph step = expand_training(graph, {}).graph;
  step.validate();
  // da from the addition and from b; dw from a and from b.
  const auto sums = ops_of_type(step, "Sum");
  ASSERT_EQ(sums.size(), 2U);
  for (const GraphOp* sum : sums) EXPECT_EQ(sum->inputs.size(), 2U);
  const auto updates = ops_of_type(step, "ApplyGradientDescent");
  ASSERT_EQ(updates.size(), 1U);
  EXPECT_EQ(updates[0]->inputs[0], w);
}

TEST(ExpandTraining, SumsAGradientDownToAnOperandThatWasBroadcast) {
  Graph graph;
  const Operand x = input(graph, {5, 7});
  add(graph, "bias", "Add", {x, weight(graph, {7})}, {5, 7});
  const Graph step = expand_training(graph, {}).graph;
  const GraphOp& sum = backward_op(step, "ReduceSum", "bias");
  EXPECT_EQ(step.tensors[sum.outputs[0].index()].shape, Shape({7}));
}

TEST(ExpandTraining, ContractsTheBatchInTheGradientOfAWeightThatTheBatchShares) {
  Graph graph;
  // 2 x 5 rows of 7 times 7 x 3. dB contracts 10 rows: 2 x 21 x 10, as many FLOPs as forward.
  add(graph, "product", "MatMul", {input(graph, {2, 5, 7}), weight(graph, {7, 3})}, {2, 5, 3});
  const Graph step = expand_training(graph, {}).graph;
  const GraphOp& db = backward_op(step, "Gemm", "product");
  EXPECT_EQ(step.tensors[db.outputs[0].index()].shape, Shape({7, 3}));
  EXPECT_EQ(flops_of(step, Phase::backward), 2 * 21 * 10 + 30);
}

TEST(ExpandTraining, GivesGemmsGradientsOfTheRightSizeForEveryTransposition) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      Graph graph;
      const Operand a = weight(graph, ta ? Shape{7, 5} : Shape{5, 7}),
                    b = weight(graph, tb ? Shape{3, 7} : Shape{7, 3});
      GraphOp gemm = node("gemm", "Gemm", {a, b});
      gemm.attributes["transA"] = std::int64_t{ta};
      gemm.attributes["transB"] = std::int64_t{tb};
      add(graph, gemm, {5, 3});
      const Graph step = expand_training(graph, {}).graph;
      for (const GraphOp* update : ops_of_type(step, "ApplyGradientDescent"))
        EXPECT_EQ(step.tensors[update->inputs[1].index].shape, step.parameters[update->inputs[0].index].shape);
      // Both gradients multiply 5 x 7 x 3 pairs.
      EXPECT_EQ(flops_of(step, Phase::backward), 2 * 2 * 105 + 15) << ta << tb;
    }
}

TEST(ExpandTraining, KeepsTheGradientOfAnEmbeddingSparse) {
  Graph graph;
  const Operand table = weight(graph, {1000, 4});
  const Operand ids = Operand::of(graph.add_input("ids", DType::i32, {6}));
  add(graph, "lookup", "Gather", {table, ids}, {6, 4});
  const Graph step = expand_training(graph, {}).graph;
  const auto updates = ops_of_type(step, "SparseApplyGradientDescent");
  ASSERT_EQ(updates.size(), 1U);
  EXPECT_EQ(updates[0]->inputs[2], ids);
  // A second lookup of the same table makes both gradients dense.
  add(graph, "again", "Gather", {table, ids}, {6, 4});
  const Graph twice = expand_training(graph, {}).graph;
  EXPECT_EQ(ops_of_type(twice, "GatherGrad").size(), 2U);
  EXPECT_EQ(ops_of_type(twice, "ApplyGradientDescent").size(), 1U);
}

TEST(ExpandTraining, SplitsTheGradientOfAConcatAndJoinsThatOfASplit) {
  Graph graph;
  const Operand w = weight(graph, {2, 4});
  const OpId split = graph.add_op(node("split", "Split", {w}));
  const Operand left = Operand::of(graph.add_output(split, "left", DType::f32, {2, 2}));
  const Operand right = Operand::of(graph.add_output(split, "right", DType::f32, {2, 2}));
  const Operand a = add(graph, "a", "Relu", {left}, {2, 2});
  add(graph, "joined", "Concat", {a, right, input(graph, {2, 1})}, {2, 5});
  const Graph step = expand_training(graph, {}).graph;
  step.validate();
  // No gradient is wanted for the third operand, an input of the model.
  EXPECT_EQ(backward_op(step, "Split", "joined").outputs.size(), 2U);
  EXPECT_EQ(backward_op(step, "Concat", "split").inputs.size(), 2U);
}

TEST(ExpandTraining, CarriesLayerAndForwardOpOverToEveryNewOp) {
  Graph graph;
  GraphOp op = node("product", "MatMul", {input(graph, {2, 4}), weight(graph, {4, 4})});
  op.layer = "encoder/1";
  add(graph, op, {2, 4});
  const PassResult result = expand_training(graph, {});
  ASSERT_GT(result.graph.ops.size(), 1U);
  EXPECT_EQ(result.became, std::vector<OpId>{OpId{0}});
  for (std::size_t i = 1; i < result.graph.ops.size(); ++i) {
    EXPECT_EQ(result.graph.ops[i].layer, "encoder/1");
    EXPECT_EQ(result.graph.ops[i].forward_of, OpId{0});
    EXPECT_NE(result.graph.ops[i].phase, Phase::forward);
  }
}

TEST(ExpandTraining, KeepsNoOneAndTwoCopiesOfStateForTheThreeOptimisers) {
  Graph graph;
  add(graph, "scale", "Mul", {input(graph, {10}), weight(graph, {10})}, {10});
  const std::pair<const char*, const char*> rows[] = {
      {"sgd", "ApplyGradientDescent"}, {"momentum", "ApplyMomentum"}, {"adam", "ApplyAdam"}};
  Bytes copies = 0;
  for (const auto& [optimizer, type] : rows) {
    const Graph step = expand_training(graph, {.optimizer = optimizer}).graph;
    ASSERT_EQ(ops_of_type(step, type).size(), 1U);
    EXPECT_EQ(ops_of_type(step, type)[0]->state_bytes, 40 * copies);
    const OpCost cost = cost_of(step, OpId{step.ops.size() - 1});
    // Reads gradient, weight and state, writes weight and state.
    EXPECT_EQ(cost.bytes_read, 40 * (2 + copies));
    EXPECT_EQ(cost.bytes_written, 40 * (1 + copies));
    EXPECT_EQ(cost.cls, OpClass::update);
    ++copies;
  }
}

TEST(ExpandTraining, GivesATypeWithoutARuleOneGenericOpThatIsReported) {
  Graph graph;
  const Operand x = add(graph, "scale", "Mul", {input(graph, {10}), weight(graph, {10})}, {10});
  add(graph, "strange", "NoSuchOp", {x}, {10});
  const Graph step = expand_training(graph, {}).graph;
  step.validate();
  const GraphStatistics sums = statistics(step);
  EXPECT_EQ(sums.uncosted_ops.count("NoSuchOpGrad"), 1U);
  EXPECT_EQ(ops_of_type(step, "ApplyGradientDescent").size(), 1U);
}

TEST(ExpandTraining, CostsAFusedLstmsGradientTwiceItsForwardPass) {
  Graph graph;
  add(graph, "lstm", "LSTM", {input(graph, {3, 2, 5}), weight(graph, {1, 16, 5}), weight(graph, {1, 16, 4})},
      {3, 1, 2, 4});
  const Graph step = expand_training(graph, {}).graph;
  const auto gradient = ops_of_type(step, "LSTMGrad");
  ASSERT_EQ(gradient.size(), 1U);
  EXPECT_EQ(gradient[0]->outputs.size(), 2U);
  EXPECT_EQ(flops_of(step, Phase::backward), 2 * flops_of(step, Phase::forward) + 24);
  EXPECT_TRUE(statistics(step).uncosted_ops.empty());
  for (std::size_t i = 0; i < step.ops.size(); ++i)
    if (step.ops[i].type == "LSTMGrad") {
      EXPECT_EQ(cost_of(step, OpId{i}).launches, 2 * 3) << "two for each of 3 steps";
    }
}

TEST(ExpandTraining, NormalisesByTheBatchsOwnStatisticsAndTrainsScaleAndBiasOnly) {
  Graph graph;
  const Operand x = add(graph, "conv", "Conv", {input(graph, {2, 3, 8, 8}), weight(graph, {4, 3, 1, 1})}, {2, 4, 8, 8});
  const Operand mean = weight(graph, {4}), variance = weight(graph, {4});
  add(graph, "bn", "BatchNormalization", {x, weight(graph, {4}), weight(graph, {4}), mean, variance}, {2, 4, 8, 8});
  const Graph step = expand_training(graph, {}).graph;
  // 8 FLOPs an element instead of the 2 of a fixed scale and shift.
  EXPECT_EQ(cost_of(step, OpId{1}).flops, 8 * 512);
  EXPECT_EQ(cost_of(graph, OpId{1}).flops, 2 * 512);
  EXPECT_EQ(ops_of_type(step, "ApplyGradientDescent").size(), 3U);  // conv, scale, bias
}

TEST(ExpandTraining, KeepsItsNamesApartFromThoseOfTheModel) {
  Graph graph;
  Operand x = input(graph, {4});
  x = add(graph, "a", "Mul", {x, weight(graph, {4})}, {4});
  x = add(graph, "grad/a#0", "Mul", {x, weight(graph, {4})}, {4});
  add(graph, "update/w0", "Relu", {x}, {4});
  const Graph step = expand_training(graph, {}).graph;
  step.validate();  // refuses repeated names
  EXPECT_NE(find_op(step, "_update/w0"), nullptr);
}

TEST(ExpandTraining, RefusesWhatCannotBeTrained) {
  const auto message = [](const Graph& graph, const TrainingOptions& options) -> std::string {
    try {
      (void)expand_training(graph, options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no InputError";
  };
  Graph graph;
  graph.name = "net";
  const Operand x = input(graph, {4});
  add(graph, "relu", "Relu", {x}, {4});
  EXPECT_THAT(message(graph, {}), HasSubstr("net: there is nothing to train"));
  add(graph, "scale", "Mul", {x, weight(graph, {4})}, {4});
  EXPECT_THAT(message(graph, {.optimizer = "adem"}), HasSubstr("unknown optimizer 'adem' (did you mean 'adam'?)"));
  const Graph step = expand_training(graph, {}).graph;
  EXPECT_THAT(message(step, {}), HasSubstr("is already part of a training step"));
}

}  // namespace
}  // namespace emplace::training_test
