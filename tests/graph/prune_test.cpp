#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/graph/small_graphs.hpp"

namespace emplace::prune_test {
namespace {

using test::add;
using test::find_op;
using test::names_of;
using test::node;
using ::testing::ElementsAre;

Operand constant(Graph& graph, const std::string& name, Shape shape, DType dtype = DType::f32) {
  return add(graph, name, "Constant", {}, std::move(shape), dtype);
}

TEST(Prune, MakesWeightsThatAConstantOfShapeProducesParametersOfTheirConsumers) {
  // As in onnx-light: an initializer with the shape, ConstantOfShape, the convolution.
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {1, 3, 8, 8}));
  const Operand size = Operand::of(graph.add_parameter("size", DType::i64, {4}, false));
  const Operand w = add(graph, "w", "ConstantOfShape", {size}, {16, 3, 3, 3});
  add(graph, "conv", "Conv", {x, w}, {1, 16, 8, 8});
  const PassResult result = prune(graph);
  result.graph.validate();
  ASSERT_EQ(result.graph.ops.size(), 1U);
  EXPECT_EQ(result.became, (std::vector<OpId>{OpId{}, OpId{0}}));
  ASSERT_EQ(result.graph.parameters.size(), 1U);
  EXPECT_EQ(result.graph.parameters[0].name, "w");
  EXPECT_EQ(result.graph.parameters[0].shape, Shape({16, 3, 3, 3}));
  EXPECT_TRUE(result.graph.parameters[0].trainable);
  EXPECT_EQ(statistics(result.graph).flops, statistics(graph).flops);
}

TEST(Prune, LeavesConstantsAsOpsWithoutTimeWhereTheGraphPlacesThem) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {1, 3, 8, 8}));
  const Operand half = constant(graph, "half", {16, 3, 3, 3}, DType::f16);
  const Operand w = add(graph, "w", "Cast", {half}, {16, 3, 3, 3});
  const Operand y = add(graph, "conv", "Conv", {x, w}, {1, 16, 8, 8});
  add(graph, "copy", "Identity", {y}, {1, 16, 8, 8});
  graph.places_constants = true;
  const PassResult result = prune(graph);
  EXPECT_THAT(names_of(result.graph), ElementsAre("half", "w", "conv", "copy"));
  std::vector<bool> before;
  for (const GraphOp& op : result.graph.ops) before.push_back(op.before_step);
  EXPECT_THAT(before, ElementsAre(true, true, false, false)) << "a copy may be made on another device";
  const OpCost cast = cost_of(result.graph, OpId{1});
  EXPECT_EQ(cast.flops, 0);
  EXPECT_EQ(cast.bytes_read + cast.bytes_written, 0);
  EXPECT_EQ(cast.launches, 0);
  EXPECT_EQ(cost_of(result.graph, OpId{2}).flops, cost_of(graph, OpId{2}).flops);
}

TEST(Prune, MakesAnIdentityOfAWeightAWeightOfItsOwn) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  const Operand w = Operand::of(graph.add_parameter("w", DType::f32, {4}));
  const Operand copy = add(graph, "copy", "Identity", {w}, {4});
  const Operand a = add(graph, "a", "Mul", {x, w}, {4});
  add(graph, "b", "Mul", {a, copy}, {4});
  const PassResult result = prune(graph);
  ASSERT_EQ(result.graph.parameters.size(), 2U);
  EXPECT_TRUE(result.graph.parameters[1].trainable);
  EXPECT_EQ(result.graph.parameters[0].users, std::vector<OpId>{OpId{0}});
  EXPECT_EQ(result.graph.parameters[1].users, std::vector<OpId>{OpId{1}});
}

TEST(Prune, RemovesIdentityAndDropoutChainsOutsideTraining) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  const Operand a = add(graph, "a", "Relu", {x}, {4});
  const Operand b = add(graph, "b", "Identity", {a}, {4});
  const OpId dropout = graph.add_op(node("c", "Dropout", {b}));
  const Operand c = Operand::of(graph.add_output(dropout, "c", DType::f32, {4}));
  graph.add_output(dropout, "mask", DType::boolean, {4});
  GraphOp last = node("d", "Relu", {c});
  last.after = {dropout};
  add(graph, last, {4});
  const PassResult result = prune(graph);
  result.graph.validate();
  ASSERT_EQ(result.graph.ops.size(), 2U);
  EXPECT_EQ(result.graph.ops[1].inputs[0], Operand::of(result.graph.ops[0].outputs[0]));
  // The control dependency on Dropout is one on what it stood for.
  EXPECT_EQ(result.graph.ops[1].after, std::vector<OpId>{OpId{0}});
}

// TensorFlow's gradients: `passed` hands dx on when dw is there, too.
TEST(Prune, KeepsAnIdentityWhoseReadersWaitForItsControlDependencies) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  const Operand dx = add(graph, "dx", "Relu", {x}, {4}), dw = add(graph, "dw", "Tanh", {x}, {4});
  GraphOp passed = node("passed", "Identity", {dx});
  passed.after = {graph.tensors[dw.index].producer};
  const Operand copy = add(graph, passed, {4});
  add(graph, "next", "Relu", {add(graph, "copied", "Identity", {copy}, {4})}, {4});
  const PassResult result = prune(graph);
  result.graph.validate();
  ASSERT_EQ(result.graph.ops.size(), 4U);
  EXPECT_EQ(result.graph.ops[2].name, "passed");
  EXPECT_EQ(result.graph.ops[2].after, std::vector<OpId>{OpId{1}});
  EXPECT_EQ(result.graph.ops[3].inputs[0], Operand::of(result.graph.ops[2].outputs[0]));
}

TEST(Prune, KeepsDropoutThatTrainsOrWhoseMaskIsRead) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  GraphOp training = node("training", "Dropout", {x});
  training.attributes["training_mode"] = std::int64_t{1};
  const Operand y = add(graph, training, {4});
  const OpId masked = graph.add_op(node("masked", "Dropout", {y}));
  const Operand z = Operand::of(graph.add_output(masked, "z", DType::f32, {4}));
  const Operand mask = Operand::of(graph.add_output(masked, "mask", DType::boolean, {4}));
  add(graph, "where", "Where", {mask, z, y}, {4});
  EXPECT_EQ(prune(graph).graph.ops.size(), 3U);
}

TEST(Prune, FoldsShapeArithmeticOfTensorsOfFixedSizeButNotOthers) {
  for (const bool fixed : {true, false}) {
    Graph graph;
    const Operand x = Operand::of(graph.add_input("x", DType::f32, {fixed ? 2 : Shape::unknown_dimension, 6}));
    const Operand y = add(graph, "work", "Relu", {x}, graph.tensors[0].shape);
    const Operand shape = add(graph, "shape", "Shape", {y}, {2}, DType::i64);
    const Operand first = add(graph, "first", "Gather", {shape, constant(graph, "zero", Shape::scalar(), DType::i64)},
                              Shape::scalar(), DType::i64);
    const Operand target =
        add(graph, "target", "Concat", {first, constant(graph, "rest", {2}, DType::i64)}, {3}, DType::i64);
    add(graph, "reshape", "Reshape", {y, target}, {2, 2, 3});
    const Graph pruned = prune(graph).graph;
    pruned.validate();
    EXPECT_EQ(find_op(pruned, "target") == nullptr, fixed);
    EXPECT_EQ(pruned.ops.size(), fixed ? 2U : 5U);
    for (const GraphParameter& parameter : pruned.parameters) EXPECT_FALSE(parameter.trainable) << parameter.name;
  }
}

TEST(Prune, TakesAConstantWithSeveralElementsForAWeightAndANumberForACoefficient) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  const Operand y = add(graph, "scale", "Mul", {x, constant(graph, "w", {4})}, {4});
  add(graph, "shift", "Add", {y, constant(graph, "epsilon", Shape::scalar())}, {4});
  const Graph pruned = prune(graph).graph;
  ASSERT_EQ(pruned.parameters.size(), 2U);
  EXPECT_TRUE(pruned.parameters[0].trainable);
  EXPECT_FALSE(pruned.parameters[1].trainable);
}

TEST(Prune, LeavesArithmeticOnTrainableWeightsInTheGraphAndFoldsItsRearrangement) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {2, 4}));
  const Operand v = Operand::of(graph.add_parameter("v", DType::f32, {3, 4}));
  const Operand g = Operand::of(graph.add_parameter("g", DType::f32, {3, 1}));
  const Operand scaled = add(graph, "scaled", "Mul", {v, g}, {3, 4});  // weight normalisation
  const Operand turned = add(graph, "turned", "Transpose", {scaled}, {4, 3});
  const Operand w = Operand::of(graph.add_parameter("w", DType::f32, {3, 3}));
  const Operand flipped = add(graph, "flipped", "Transpose", {w}, {3, 3});
  const Operand y = add(graph, "product", "MatMul", {x, turned}, {2, 3});
  add(graph, "second", "MatMul", {y, flipped}, {2, 3});
  const Graph pruned = prune(graph).graph;
  EXPECT_NE(find_op(pruned, "scaled"), nullptr);
  EXPECT_NE(find_op(pruned, "turned"), nullptr);
  EXPECT_EQ(find_op(pruned, "flipped"), nullptr);
}

TEST(Prune, FoldsACastOfAConstantWhoseTypeAnInputGives) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  const Operand cast = add(graph, "cast", "CastLike", {constant(graph, "two", {1}), x}, {1});
  add(graph, "sum", "Add", {x, cast}, {4});
  for (const bool inference : {true, false})
    EXPECT_THAT(names_of(prune(graph, {.inference = inference}).graph), ElementsAre("sum"));
}

// x + mask, where ScatterND writes rows of numbers into zeros: no op of the mask reads x.
TEST(Prune, FoldsAMaskThatDependsOnNoInputIntoAConstantThatIsNoWeight) {
  for (const bool inference : {true, false}) {
    Graph graph;
    const Operand x = Operand::of(graph.add_input("x", DType::f32, {4, 6}));
    const Operand size = Operand::of(graph.add_parameter("size", DType::i64, {2}, false));
    const Operand zeros = add(graph, "zeros", "ConstantOfShape", {size}, {4, 6});
    const Operand row = Operand::of(graph.add_parameter("row", DType::i64, {1, 1}, false));
    const Operand one = constant(graph, "one", Shape::scalar());
    const Operand ones = add(graph, "ones", "Expand", {one, size}, {1, 6});
    const Operand mask = add(graph, "mask", "ScatterND", {zeros, row, ones}, {4, 6});
    const Operand y = add(graph, "sum", "Add", {x, mask}, {4, 6});
    add(graph, "product", "MatMul", {y, Operand::of(graph.add_parameter("w", DType::f32, {6, 3}))}, {4, 3});
    const PassResult result = prune(graph, {.inference = inference});
    result.graph.validate();
    EXPECT_THAT(names_of(result.graph), ElementsAre("sum", "product"));
    EXPECT_EQ(resident_bytes(result.graph, OpId{0}), 4 * 4 * 6);
    EXPECT_EQ(statistics(result.graph).parameters, 6 * 3);
    const Graph step = expand_training(result.graph, {}).graph;
    EXPECT_NE(find_op(step, "update/w"), nullptr);
    EXPECT_EQ(find_op(step, "update/mask"), nullptr);
  }
}

TEST(Prune, FoldedConstantsStayApartFromWeightsInLaterPasses) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4, 4}));
  const Operand zeros = add(graph, "zeros", "ConstantOfShape", {constant(graph, "size", {2}, DType::i64)}, {4, 4});
  const Operand mask = add(graph, "mask", "Exp", {zeros}, {4, 4});
  const Operand w = Operand::of(graph.add_parameter("w", DType::f32, {4, 4}));
  const Operand y = add(graph, "first", "Mul", {add(graph, "product", "MatMul", {x, w}, {4, 4}), mask}, {4, 4});
  add(graph, "second", "Mul", {y, mask}, {4, 4});
  const Graph pruned = prune(graph).graph;
  EXPECT_EQ(statistics(pruned).parameters, 16);
  EXPECT_EQ(statistics(share_parameters(pruned).graph).parameters, 16);
  EXPECT_EQ(statistics(coarsen(pruned, 1).graph).parameters, 16);
  EXPECT_EQ(resident_bytes(coarsen(pruned, 1).graph, OpId{0}), 2 * 4 * 16);
}

TEST(Prune, FoldsArithmeticOnWeightsOfAGraphThatIsOnlyEvaluated) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {2, 4}));
  const Operand v = Operand::of(graph.add_parameter("v", DType::f32, {4, 3}));
  const Operand g = Operand::of(graph.add_parameter("g", DType::f32, {1, 3}));
  const Operand token = Operand::of(graph.add_parameter("token", DType::f32, {1, 3}));
  const Operand scaled = add(graph, "scaled", "Mul", {v, g}, {4, 3});  // weight normalisation
  const Operand tokens = add(graph, "tokens", "Expand", {token, constant(graph, "batch", {2}, DType::i64)}, {2, 3});
  const Operand y = add(graph, "product", "MatMul", {x, scaled}, {2, 3});
  const Operand noise = add(graph, "noise", "RandomNormal", {}, {2, 3});
  const Operand z = add(graph, "concat", "Add", {y, tokens}, {2, 3});
  add(graph, "noisy", "Add", {z, noise}, {2, 3});
  const Graph pruned = prune(graph, {.inference = true}).graph;
  EXPECT_THAT(names_of(pruned), ElementsAre("product", "noise", "concat", "noisy"));
  EXPECT_EQ(resident_bytes(pruned, OpId{0}), 4 * 4 * 3);
  EXPECT_EQ(resident_bytes(pruned, OpId{2}), 4 * 2 * 3);
  // The product v g is the layer's weight; the two copies of the token are more than the model has.
  EXPECT_EQ(statistics(pruned).parameters, 4 * 3);
}

TEST(Prune, RemovesDropoutWhoseThirdInputIsKnownToSwitchItOff) {
  for (const bool trains : {true, false}) {
    Graph graph;
    const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
    const Operand mode = Operand::of(graph.add_parameter("mode", DType::boolean, Shape::scalar(), false));
    GraphOp dropout = node("dropout", "Dropout", {x, Operand::none(), mode});
    dropout.attributes["training_mode"] = std::int64_t{trains ? 1 : 0};  // as the reader of the file sets it
    add(graph, "y", "Relu", {add(graph, dropout, {4})}, {4});
    EXPECT_EQ(prune(graph).graph.ops.size(), trains ? 2U : 1U);
  }
}

TEST(Prune, RemovesWhatOnlyFoldedOpsWanted) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  const Operand unused = add(graph, "unused", "Relu", {x}, {4});
  const Operand shape = add(graph, "shape", "Shape", {unused}, {1}, DType::i64);
  add(graph, "reshape", "Reshape", {x, shape}, {4});
  const Graph pruned = prune(graph).graph;
  ASSERT_EQ(pruned.ops.size(), 1U);
  EXPECT_EQ(pruned.ops[0].name, "reshape");
}

TEST(Prune, KeepsAnIdentityThatNamesAnOutputOfTheModel) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  const Operand y = add(graph, "y", "Relu", {x}, {4});
  add(graph, "out", "Identity", {y}, {4});
  add(graph, "more", "Relu", {y}, {4});
  EXPECT_EQ(prune(graph).graph.ops.size(), 3U);
  // As the only consumer it may go: what it copied is then the output.
  Graph single;
  const Operand a = Operand::of(single.add_input("x", DType::f32, {4}));
  add(single, "out", "Identity", {add(single, "y", "Relu", {a}, {4})}, {4});
  EXPECT_EQ(prune(single).graph.ops.size(), 1U);
}

TEST(Prune, CanLeaveNothingOfAGraphOfConstants) {
  Graph graph;
  add(graph, "sum", "Add", {constant(graph, "a", Shape::scalar()), constant(graph, "b", Shape::scalar())},
      Shape::scalar());
  EXPECT_TRUE(prune(graph).graph.ops.empty());
}

// w = Variable, Assign(w, uniform * 2), Assign_1(w, RestoreV2), SaveV2(w), y = x w.
struct Session {
  Graph graph;
  Operand x = Operand::of(graph.add_input("x", DType::f32, {2, 4}));
  Operand w = add(graph, "w", "Variable", {Operand::of(graph.add_parameter("w", DType::f32, {4, 4}))}, {4, 4});
  Operand product = add(graph, "product", "MatMul", {x, w}, {2, 4});

  Session() {
    const Operand uniform = add(graph, "uniform", "RandomUniform", {}, {4, 4});
    const Operand two = add(graph, "two", "Constant", {}, Shape::scalar());
    add(graph, "Assign", "Assign", {w, add(graph, "scaled", "Mul", {uniform, two}, {4, 4})}, {4, 4});
    const Operand file = add(graph, "file", "PlaceholderWithDefault", {}, Shape::scalar(), DType::text);
    add(graph, "Assign_1", "Assign", {w, add(graph, "restored", "RestoreV2", {file}, {4, 4})}, {4, 4});
    graph.add_op(node("save", "SaveV2", {file, w}));
  }
};

TEST(Prune, LeavesOutWhatInitialisesRestoresAndSavesVariables) {
  const PassResult result = prune(Session{}.graph);
  EXPECT_THAT(names_of(result.graph), ElementsAre("w", "product"));
}

TEST(Prune, KeepsAssignmentsOfWhatAStepComputesAndOfWhatIsReadAfterwards) {
  Session session;
  Graph& graph = session.graph;
  // A state that the step leaves to the next one, and a value that is read as it is assigned.
  const Operand state = add(graph, "state", "Variable", {}, {2, 4});
  add(graph, "keep", "Assign", {state, session.product}, {2, 4});
  const Operand noise = add(graph, "noise", "RandomUniform", {}, {4, 4});
  add(graph, "last", "MatMul", {session.x, add(graph, "fresh", "Assign", {session.w, noise}, {4, 4})}, {2, 4});
  EXPECT_THAT(names_of(prune(graph).graph), ElementsAre("w", "product", "state", "keep", "noise", "fresh", "last"));
}

TEST(Prune, KeepsOpsThatMakeLargeConstantsOfSmallOnes) {
  constexpr std::int64_t mebi = std::int64_t{1} << 20;
  const auto ops_left = [](const std::string& type, Shape small, Shape large) {
    Graph graph;
    const Operand x = Operand::of(graph.add_input("x", DType::f32, large));
    const Operand from = constant(graph, "from", std::move(small));
    const Operand made = add(graph, "made", type, {from}, large);
    add(graph, "sum", "Add", {x, made}, large);
    return names_of(prune(graph, {.inference = true}).graph);
  };
  for (const char* type : {"Expand", "Tile"}) {
    EXPECT_THAT(ops_left(type, {1}, {16 * mebi}), ElementsAre("sum")) << "64 MiB";
    EXPECT_THAT(ops_left(type, {1}, {16 * mebi + 1}), ElementsAre("made", "sum")) << "one element more";
  }
  // What has no more elements than the weight from which it is made is folded at any size.
  EXPECT_THAT(ops_left("Transpose", {8192, 8192}, {8192, 8192}), ElementsAre("sum"));
}

// ONNX Runtime keeps the integers, and fuses DequantizeLinear into the ops that read its result.
TEST(Prune, KeepsADequantisedWeightAsItsIntegers) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {1, 8}));
  const Operand q = Operand::of(graph.add_parameter("q", DType::i8, {8, 4}));
  const Operand scale = Operand::of(graph.add_parameter("scale", DType::f32, {}, false));
  const Operand w = add(graph, "w", "DequantizeLinear", {q, scale}, {8, 4});
  const Operand turned = add(graph, "turned", "Transpose", {w}, {4, 8});
  const Operand back = add(graph, "back", "Transpose", {turned}, {8, 4});
  add(graph, "product", "MatMul", {x, back}, {1, 4});
  const Graph pruned = prune(graph, {.inference = true}).graph;
  ASSERT_EQ(pruned.ops.size(), 1U);
  ASSERT_EQ(pruned.ops[0].inputs.size(), 2U);
  const GraphParameter& weight = pruned.parameters[pruned.ops[0].inputs[1].index];
  EXPECT_EQ(weight.dtype, DType::i8);
  EXPECT_EQ(weight.bytes(), 32);
  EXPECT_EQ(resident_bytes(pruned, OpId{0}), 32);
}

TEST(Prune, KeepsADequantisedWeightThatIsCastInTheTypeOfTheCast) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f16, {1, 8}));
  const Operand q = Operand::of(graph.add_parameter("q", DType::i8, {8, 4}));
  const Operand w = add(graph, "w", "DequantizeLinear", {q}, {8, 4});
  const Operand half = add(graph, "half", "Cast", {w}, {8, 4}, DType::f16);
  add(graph, "product", "MatMul", {x, half}, {1, 4}, DType::f16);
  const Graph pruned = prune(graph, {.inference = true}).graph;
  EXPECT_EQ(resident_bytes(pruned, OpId{0}), 64);
}

}  // namespace
}  // namespace emplace::prune_test
