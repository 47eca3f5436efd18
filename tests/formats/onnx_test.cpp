// What the ONNX reader makes of small models: operands, parameters, shapes, options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "graph/ops/op_table.hpp"
#include "tests/formats/onnx_network.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/small_models.hpp"

namespace emplace::formats::onnx_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const onnx::ModelProto& model, const ReadOptions& options = {}) {
  try {
    read(model, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "read without an error";
}

const GraphParameter& parameter_of(const Graph& graph, const std::string& name) {
  return *std::find_if(graph.parameters.begin(), graph.parameters.end(), [&](const auto& p) { return p.name == name; });
}

TEST(OnnxReader, MakesOneOpANodeAndAParameterOfEachWeight) {
  const Graph graph = read(conv_model({1, 3, 8, 8}));
  ASSERT_EQ(graph.ops.size(), 2u);
  EXPECT_EQ(graph.name, "test");
  EXPECT_EQ(graph.ops[0].name, "conv");
  EXPECT_EQ(graph.ops[0].type, "Conv");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(graph.ops[0].attributes.at("kernel_shape")),
            (std::vector<std::int64_t>{3, 3}));
  ASSERT_EQ(graph.ops[0].inputs.size(), 3u);
  EXPECT_TRUE(graph.ops[0].inputs[0].is_tensor());
  EXPECT_TRUE(graph.ops[0].inputs[1].is_parameter());
  ASSERT_EQ(graph.parameters.size(), 2u);
  EXPECT_EQ(graph.parameters[0].name, "w");
  EXPECT_EQ(graph.parameters[0].bytes(), 4 * 3 * 3 * 3 * 4);
  EXPECT_TRUE(graph.parameters[0].trainable);
  EXPECT_THAT(graph.parameters[0].users, ElementsAre(OpId{0}));
  // 8 - 3 + 1 = 6 with no padding.
  EXPECT_EQ(shape_of(graph, "c"), "1x4x6x6");
  EXPECT_EQ(shape_of(graph, "y"), "1x4x6x6");
  EXPECT_EQ(shape_of(graph, "x"), "1x3x8x8");
  EXPECT_EQ(graph.edge_count(), 1u);
}

TEST(OnnxReader, AnInputThatIsAlsoAnInitializerIsAParameter) {
  onnx::ModelProto model = conv_model();
  model.set_ir_version(3);
  set_type(*model.mutable_graph()->add_input(), "w", {4, 3, 3, 3});
  const Graph graph = read(model);
  EXPECT_EQ(graph.parameters.size(), 2u);
  EXPECT_EQ(shape_of(graph, "w"), "no such tensor");
}

TEST(OnnxReader, TakesTheBatchAndOtherOpenSizesFromTheOptions) {
  EXPECT_EQ(shape_of(read(conv_model()), "y"), "?x4x6x6");
  EXPECT_EQ(shape_of(read(conv_model(), {.shapes = {}, .batch = 16}), "y"), "16x4x6x6");
  EXPECT_EQ(shape_of(read(conv_model(), {.shapes = {{"x", {2, 3, 10, 12}}}, .batch = {}}), "y"), "2x4x8x10");
  // The batch fills only what is open.
  EXPECT_EQ(shape_of(read(conv_model({1, 3, 8, 8}), {.shapes = {}, .batch = 16}), "y"), "1x4x6x6");
}

TEST(OnnxReader, AnInputWithoutAnyStoredShapeTakesTheGivenOne) {
  onnx::ModelProto model = conv_model();
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  EXPECT_EQ(shape_of(read(model), "x"), "unknown rank");
  EXPECT_EQ(shape_of(read(model, {.shapes = {{"x", {1, 3, 8, 8}}}, .batch = {}}), "y"), "1x4x6x6");
}

TEST(OnnxReader, DimensionsOfOneSymbolGetOneSize) {
  onnx::ModelProto model = empty_model();
  auto& graph = *model.mutable_graph();
  set_type(*graph.add_input(), "ids", {"N", "S"});
  set_type(*graph.add_input(), "mask", {"N", "S"});
  *graph.add_node() = make_node("Add", "add", {"ids", "mask"}, {"sum"});
  *graph.add_node() = make_node("Neg", "neg", {"mask"}, {"negative"});
  graph.add_output()->set_name("negative");
  EXPECT_EQ(shape_of(read(model, {.shapes = {{"ids", {8, 128}}}, .batch = {}}), "negative"), "8x128");
  EXPECT_EQ(shape_of(read(model, {.shapes = {}, .batch = 8}), "negative"), "8x?");
  EXPECT_THAT(error_of(model, {.shapes = {{"ids", {8, 128}}, {"mask", {8, 64}}}, .batch = {}}),
              HasSubstr("the dimension 'S' would be 128 and 64"));
}

TEST(OnnxReader, AReplacedFixedSizeDropsTheShapesStoredForTheOldOne) {
  onnx::ModelProto model = conv_model({1, 3, 8, 8});
  set_type(*model.mutable_graph()->add_value_info(), "c", {1, 4, 6, 6});
  EXPECT_EQ(shape_of(read(model, {.shapes = {{"x", {32, 3, 8, 8}}}, .batch = {}}), "c"), "32x4x6x6");
}

TEST(OnnxReader, RefusesShapesThatDoNotFitTheInputs) {
  EXPECT_THAT(error_of(conv_model(), {.shapes = {{"x1", {1}}}, .batch = {}}),
              HasSubstr("the model has no input 'x1' (did you mean 'x'?)"));
  EXPECT_THAT(error_of(conv_model(), {.shapes = {{"w", {1}}}, .batch = {}}), HasSubstr("the model has no input 'w'"));
  EXPECT_THAT(error_of(conv_model(), {.shapes = {{"x", {1, 3}}}, .batch = {}}),
              HasSubstr("input 'x' has 4 dimensions, the shape given for it has 2"));
  EXPECT_THAT(error_of(conv_model(), {.shapes = {{"x", {0, 3, 8, 8}}}, .batch = {}}), HasSubstr("has size 0"));
  EXPECT_THAT(error_of(conv_model(), {.shapes = {}, .batch = -1}), HasSubstr("must be at least 1, got -1"));
  // A 3 x 3 kernel does not fit into one pixel: 1 - 3 + 1 = -1.
  EXPECT_THAT(error_of(conv_model(), {.shapes = {{"x", {1, 3, 1, 1}}}, .batch = {}}),
              HasSubstr("node 'conv' (Conv): its output 'c' would have a dimension of negative size -1"));
}

TEST(OnnxReader, KeepsTheNodesOfAFileInAnyOrder) {
  onnx::ModelProto model = conv_model({1, 3, 8, 8});
  model.mutable_graph()->mutable_node()->SwapElements(0, 1);
  const Graph graph = read(model);
  EXPECT_EQ(graph.ops[0].name, "relu");
  EXPECT_EQ(shape_of(graph, "y"), "1x4x6x6");
  EXPECT_THAT(graph.topological_order(), ElementsAre(OpId{1}, OpId{0}));
}

TEST(OnnxReader, NamesNodesWithoutANameAfterTheirTypeAndOutput) {
  onnx::ModelProto model = conv_model();
  auto& graph = *model.mutable_graph();
  graph.mutable_node(0)->clear_name();
  graph.mutable_node(1)->set_name("Conv:c");  // somebody else has the name already
  const Graph read_graph = read(model);
  EXPECT_THAT(read_graph.ops[0].name, ::testing::StartsWith("Conv:c#"));
  EXPECT_EQ(read_graph.ops[1].name, "Conv:c");
}

TEST(OnnxReader, AnEmptyInputNameIsNoOperandAndAnEmptyOutputNameNoTensor) {
  onnx::ModelProto model = empty_model();
  auto& graph = *model.mutable_graph();
  set_type(*graph.add_input(), "x", {5, 2, 3});
  *graph.add_initializer() = make_tensor("w", {1, 16, 3});
  *graph.add_initializer() = make_tensor("r", {1, 16, 4});
  *graph.add_initializer() = make_tensor("h", {1, 2, 4});
  *graph.add_node() = make_node("LSTM", "lstm", {"x", "w", "r", "", "", "h"}, {"", "last"});
  add_attribute(*graph.mutable_node(0), "hidden_size", onnx::AttributeProto::INT).set_i(4);
  graph.add_output()->set_name("last");
  const Graph read_graph = read(model);
  ASSERT_EQ(read_graph.ops[0].inputs.size(), 6u);
  EXPECT_EQ(read_graph.ops[0].inputs[3], Operand::none());
  ASSERT_EQ(read_graph.ops[0].outputs.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(read_graph.ops[0].attributes.at("hidden_size")), 4);
  EXPECT_EQ(shape_of(read_graph, "last"), "1x2x4");
}

TEST(OnnxReader, WholeNumbersScalarsAndRunningStatisticsAreNotTrained) {
  onnx::ModelProto model = empty_model();
  auto& graph = *model.mutable_graph();
  set_type(*graph.add_input(), "x", {1, 4, 6});
  for (const char* name : {"scale", "shift", "mean", "variance"}) *graph.add_initializer() = make_tensor(name, {4});
  *graph.add_initializer() = make_vector("target", {24, 1});
  *graph.add_initializer() = make_tensor("half", {});
  *graph.add_node() = make_node("BatchNormalization", "bn", {"x", "scale", "shift", "mean", "variance"}, {"n"});
  *graph.add_node() = make_node("Reshape", "reshape", {"n", "target"}, {"flat"});
  *graph.add_node() = make_node("Mul", "mul", {"flat", "half"}, {"y"});
  graph.add_output()->set_name("y");
  const Graph read_graph = read(model);
  EXPECT_TRUE(parameter_of(read_graph, "scale").trainable);
  EXPECT_TRUE(parameter_of(read_graph, "shift").trainable);
  EXPECT_FALSE(parameter_of(read_graph, "mean").trainable);
  EXPECT_FALSE(parameter_of(read_graph, "variance").trainable);
  EXPECT_FALSE(parameter_of(read_graph, "target").trainable);
  EXPECT_FALSE(parameter_of(read_graph, "half").trainable);
  EXPECT_EQ(shape_of(read_graph, "y"), "24x1");
}

// If(cond) { then: x + w1 } { else: nested If(cond) { x * w2 } { x } }
onnx::ModelProto model_with_branches() {
  onnx::ModelProto model = empty_model();
  auto& graph = *model.mutable_graph();
  set_type(*graph.add_input(), "x", {2, 3});
  set_type(*graph.add_input(), "cond", {}, onnx::TensorProto::BOOL);
  *graph.add_initializer() = make_tensor("outer", {3});
  *graph.add_node() = make_node("Relu", "relu", {"x"}, {"r"});
  onnx::NodeProto branch = make_node("If", "if", {"cond"}, {"y"});
  auto& then_graph = *add_attribute(branch, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
  then_graph.set_name("then");
  *then_graph.add_initializer() = make_tensor("w1", {3});
  *then_graph.add_node() = make_node("Add", "add", {"r", "w1"}, {"sum"});
  then_graph.add_output()->set_name("sum");
  auto& else_graph = *add_attribute(branch, "else_branch", onnx::AttributeProto::GRAPH).mutable_g();
  else_graph.set_name("else");
  onnx::NodeProto inner = make_node("If", "inner", {"cond"}, {"z"});
  auto& deep = *add_attribute(inner, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
  deep.set_name("deep");
  *deep.add_node() = make_node("Mul", "mul", {"r", "outer"}, {"product"});
  deep.add_output()->set_name("product");
  auto& other = *add_attribute(inner, "else_branch", onnx::AttributeProto::GRAPH).mutable_g();
  other.set_name("other");
  onnx::NodeProto constant = make_node("Constant", "k", {}, {"k"});
  *add_attribute(constant, "value", onnx::AttributeProto::TENSOR).mutable_t() = make_tensor("k", {2, 3});
  *other.add_node() = constant;
  other.add_output()->set_name("k");
  *else_graph.add_node() = inner;
  else_graph.add_output()->set_name("z");
  *graph.add_node() = branch;
  graph.add_output()->set_name("y");
  return model;
}

TEST(OnnxReader, AControlFlowNodeReadsWhatItsSubGraphsReadAndHoldsTheirWeights) {
  ::testing::internal::CaptureStderr();
  const Graph graph = read(model_with_branches());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("1 nodes have sub-graphs (If, Loop, Scan), among them"));
  ASSERT_EQ(graph.ops.size(), 2u);
  const GraphOp& op = graph.ops[1];
  // cond; then r and outer from the branches; then the weights of the branches: w1 and the constant.
  ASSERT_EQ(op.inputs.size(), 5u);
  EXPECT_EQ(graph.tensors[op.inputs[0].index].name, "cond");
  EXPECT_EQ(graph.tensors[op.inputs[1].index].name, "r");
  EXPECT_EQ(graph.parameters[op.inputs[2].index].name, "outer");
  EXPECT_EQ(graph.parameters[op.inputs[3].index].name, "if/w1");
  EXPECT_EQ(graph.parameters[op.inputs[4].index].name, "if/k");
  EXPECT_EQ(graph.edge_count(), 1u);
  EXPECT_EQ(shape_of(graph, "y"), "2x3");
}

TEST(OnnxReader, AnOpOfAnotherDomainKeepsItsDomainInTheType) {
  onnx::ModelProto model = conv_model({1, 3, 8, 8});
  model.mutable_graph()->mutable_node(1)->set_domain("com.example");
  auto& import = *model.add_opset_import();
  import.set_domain("com.example");
  import.set_version(1);
  const Graph graph = read(model);
  EXPECT_EQ(graph.ops[1].type, "com.example.Relu");
  EXPECT_EQ(shape_of(graph, "y"), "unknown rank");
  EXPECT_EQ(shape_of(graph, "c"), "1x4x6x6");
}

TEST(OnnxReader, ShapesGoThroughTheModelsOwnFunctions) {
  onnx::ModelProto model = conv_model({1, 3, 8, 8});
  auto& import = *model.add_opset_import();
  import.set_domain("local");
  import.set_version(1);
  auto& function = *model.add_functions();
  function.set_domain("local");
  function.set_name("Flat");
  function.add_input("a");
  function.add_output("z");
  function.add_attribute("from");
  function.add_opset_import()->set_version(13);
  *function.add_node() = make_node("Flatten", "", {"a"}, {"f"});
  auto& axis = add_attribute(*function.mutable_node(0), "axis", onnx::AttributeProto::INT);
  axis.set_ref_attr_name("from");
  *function.add_node() = make_node("Neg", "", {"f"}, {"z"});
  auto& node = *model.mutable_graph()->mutable_node(1);
  node.set_op_type("Flat");
  node.set_domain("local");
  add_attribute(node, "from", onnx::AttributeProto::INT).set_i(2);
  const Graph graph = read(model);
  EXPECT_EQ(graph.ops[1].type, "local.Flat");
  EXPECT_EQ(shape_of(graph, "y"), "4x36");  // axis 2 of 1 x 4 x 6 x 6
}

TEST(OnnxReader, ReadsWeightsWithoutTheirData) {
  onnx::ModelProto model = conv_model({1, 3, 8, 8});
  auto& graph = *model.mutable_graph();
  // 40 MB of raw data, data in another file, and data as floats: the reader skips all three.
  *graph.add_initializer() = make_tensor("big", {100'000, 100});
  graph.mutable_initializer(2)->set_raw_data(std::string(40'000'000, 'x'));
  *graph.add_initializer() = make_tensor("elsewhere", {1000, 1000, 1000});
  graph.mutable_initializer(3)->set_data_location(onnx::TensorProto::EXTERNAL);
  *graph.add_initializer() = make_tensor("floats", {100'000});
  for (int i = 0; i < 100'000; ++i) graph.mutable_initializer(4)->add_float_data(1);
  const Graph read_graph = read(model);
  EXPECT_EQ(parameter_of(read_graph, "big").bytes(), 40'000'000);
  EXPECT_EQ(parameter_of(read_graph, "elsewhere").bytes(), 4'000'000'000);
  EXPECT_EQ(parameter_of(read_graph, "floats").bytes(), 400'000);
}

TEST(OnnxReader, IsChosenByContentWhereTheNameSaysNothing) {
  const TemporaryFile file(conv_model().SerializeAsString(), ".bin");
  EXPECT_EQ(read_graph(file.path()).ops.size(), 2u);
  const TemporaryFile text("hello", ".txt");
  EXPECT_THROW(read_graph(text.path()), InputError);
}

TEST(OnnxReader, FixesEverySizeOfANetworkWithItsBatch) {
  const TemporaryFile file(test::small_network(0));
  EXPECT_EQ(statistics(read_graph(file.path())).static_tensors, test::SmallNetwork::filters);
  const GraphStatistics counts = statistics(read_graph(file.path(), {.shapes = {}, .batch = 1}));
  EXPECT_EQ(counts.static_tensors, test::SmallNetwork::nodes);
  EXPECT_TRUE(counts.unknown_tensors.empty());
}

TEST(OnnxReader, OpensASymbolicBatchOfARealModel) {
  const std::string model = test::outside_file("models/onnx-with-weights/openwakeword_embedding.onnx");
  REQUIRE_OUTSIDE_FILE(model);
  const GraphStatistics counts = statistics(read_graph(model, {.shapes = {}, .batch = 1}));
  EXPECT_EQ(counts.static_tensors, 65u);
  EXPECT_TRUE(counts.unknown_tensors.empty());
}

TEST(OnnxReader, TellsNodesOfOneNameApartByTheirPositions) {
  onnx::ModelProto model = conv_model();
  model.mutable_graph()->mutable_node(1)->set_name("conv");
  *model.mutable_graph()->add_node() = make_node("Neg", "conv#1", {"y"}, {"z"});  // a name of the file, which stays
  *model.mutable_graph()->add_node() = make_node("Neg", "conv", {"z"}, {"last"});
  ::testing::internal::CaptureStderr();
  const Graph graph = read(model);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("2 nodes have the name of an earlier node"));
  std::vector<std::string> names;
  for (const GraphOp& op : graph.ops) names.push_back(op.name);
  EXPECT_EQ(names, (std::vector<std::string>{"conv", "conv#2", "conv#1", "conv#3"}));
}

}  // namespace
}  // namespace emplace::formats::onnx_test
