// TensorFlow GraphDef, text and binary, and what a TensorFlow graph becomes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/formats/model_text.hpp"
#include "tests/formats/proto_bytes.hpp"

namespace emplace::formats::graphdef_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs = {},
                 const std::string& attributes = "") {
  std::string text = "node { name: \"" + name + "\" op: \"" + op + "\"";
  for (const std::string& input : inputs) text += " input: \"" + input + "\"";
  return text + " " + attributes + " }\n";
}
std::string attribute(const std::string& key, const std::string& value) {
  return "attr { key: \"" + key + "\" value { " + value + " } } ";
}
std::string shape(const std::vector<std::int64_t>& dims) {
  std::string text = "shape { ";
  for (const std::int64_t dim : dims) text += "dim { size: " + std::to_string(dim) + " } ";
  return text + "} ";
}
const std::string f32 = attribute("dtype", "type: DT_FLOAT");
std::string placeholder(const std::string& name, const std::vector<std::int64_t>& dims) {
  return node(name, "Placeholder", {}, f32 + attribute("shape", shape(dims)));
}
std::string constant(const std::string& name, const std::vector<std::int64_t>& dims) {
  return node(name, "Const", {},
              f32 + attribute("value", "tensor { dtype: DT_FLOAT tensor_" + shape(dims) + "float_val: 0.5 }"));
}
std::string conv(std::int64_t batch) {
  return placeholder("x", {batch, 8, 8, 3}) + constant("w", {3, 3, 3, 4}) +
         node("c", "Conv2D", {"x", "w"},
              attribute("T", "type: DT_FLOAT") + attribute("strides", "list { i: 1 i: 2 i: 2 i: 1 }") +
                  attribute("padding", "s: \"SAME\"") + attribute("data_format", "s: \"NHWC\"")) +
         node("r", "Relu", {"c:0"}, attribute("T", "type: DT_FLOAT"));
}
Graph read(const std::string& text, const ReadOptions& options = {}) {
  return read_model_text(text, "m.pbtxt", options);
}
std::string refusal(const std::string& text) { return refusal_of(text, "m.pbtxt"); }

TEST(TensorflowReader, ReadsAConvolutionInItsOwnLayout) {
  const Graph graph = read(conv(2));
  ASSERT_EQ(graph.ops.size(), 4u);
  EXPECT_EQ(graph.edge_count(), 3u);
  // SAME with stride 2: 8 becomes 4. Every output is 3 x 3 x 3 multiply-adds; the Relu one operation.
  EXPECT_EQ(tensor_named(graph, "c:0").shape.str(), "2x4x4x4");
  EXPECT_EQ(tensor_named(graph, "r:0").shape.str(), "2x4x4x4");
  EXPECT_EQ(statistics(graph).flops, 128 * (2 * 27) + 128);
  EXPECT_EQ(graph.parameters[0].bytes(), 432);
  EXPECT_EQ(cost_of(graph, OpId{2}).cls, OpClass::convolution);
}

TEST(TensorflowReader, ABatchOpensAPlaceholder) {
  EXPECT_EQ(tensor_named(read(conv(-1)), "r:0").shape.str(), "?x4x4x4");
  EXPECT_EQ(tensor_named(read(conv(-1), {.shapes = {}, .batch = 6}), "r:0").shape.str(), "6x4x4x4");
  const ReadOptions named{.shapes = {{"x:0", {3, 8, 8, 3}}}, .batch = {}};
  EXPECT_EQ(tensor_named(read(conv(-1), named), "r:0").shape.str(), "3x4x4x4");
}

// Forward 2 x 27 multiply-adds an output; the filter's gradient costs as many. The input needs none.
TEST(TensorflowReader, AnImportedGraphCanBeTrained) {
  const Graph forward = prune(read(conv(2))).graph;
  const Graph step = expand_training(forward, {}).graph;
  EXPECT_TRUE(statistics(step).uncosted_ops.empty());
  double filter_flops = 0;
  for (std::size_t i = 0; i < step.ops.size(); ++i)
    if (step.ops[i].type == "Conv2DBackpropFilter") filter_flops = cost_of(step, OpId{i}).flops;
  EXPECT_EQ(filter_flops, 128 * 54);
}

TEST(TensorflowReader, ReadsOutputsControlInputsGroupsAndDevices) {
  const Graph graph = read(
      placeholder("x", {4, 6}) +
      node("s", "Split", {"axis", "x"},
           "device: \"/gpu:0\" " + attribute("T", "type: DT_HALF") + attribute("num_split", "i: 2")) +
      node("axis", "Const", {},
           attribute("dtype", "type: DT_INT32") + attribute("value", "tensor { dtype: DT_INT32 tensor_shape { } }")) +
      node("a", "Relu", {"s:1", "^x", "^x"}, attribute("_class", "list { s: \"loc:@s\" }")) +
      node("b", "Less", {"s", "s:1"}, attribute("T", "type: DT_HALF")));
  const GraphOp& split = op_named(graph, "s");
  // The op table's Split takes the value first.
  EXPECT_EQ(graph.tensors[split.inputs[0].index].name, "x:0");
  EXPECT_EQ(graph.tensors[split.inputs[1].index].name, "axis:0");
  ASSERT_EQ(split.outputs.size(), 2u);
  EXPECT_EQ(graph.tensors[split.outputs[1].index()].dtype, DType::f16);
  EXPECT_EQ(std::get<std::string>(split.attributes.at("device")), "/gpu:0");
  EXPECT_EQ(std::get<std::int64_t>(split.attributes.at("num_split")), 2);
  EXPECT_THAT(op_named(graph, "a").after, ElementsAre(OpId{0}));
  EXPECT_EQ(op_named(graph, "a").colocate, "s");
  EXPECT_EQ(split.colocate, "s");
  EXPECT_EQ(tensor_named(graph, "b:0").dtype, DType::boolean);
  EXPECT_EQ(graph.edge_count(), 5u);  // x-s, axis-s, s-a, x-a, s-b
}

TEST(TensorflowReader, GroupsThatShareAnOpAreOneGroup) {
  const auto at = [](const std::string& names) { return attribute("_class", "list { " + names + " }"); };
  const Graph graph = read(node("a", "NoOp", {}, at("s: \"loc:@b\"")) + node("b", "NoOp", {}, at("s: \"loc:@c\"")) +
                           node("c", "NoOp") + node("d", "NoOp", {}, at("s: \"loc:@gone\" s: \"loc:@c\"")) +
                           node("e", "NoOp", {}, at("s: \"loc:@gone\"")) + node("f", "NoOp"));
  for (const char* name : {"a", "b", "c", "d", "e"}) EXPECT_EQ(op_named(graph, name).colocate, "a") << name;
  EXPECT_EQ(op_named(graph, "f").colocate, "");
}

TEST(TensorflowReader, AnOpIsWithTheVariableThatItGetsAHandleOf) {
  const std::string resource = attribute("T", "type: DT_RESOURCE");
  const Graph graph = read(node("v", "VarHandleOp", {}, f32 + attribute("shape", shape({4}))) +
                           node("same", "Identity", {"v"}, resource) + node("value", "ReadVariableOp", {"same"}, f32) +
                           placeholder("g", {4}) + node("r", "Relu", {"value"}, attribute("T", "type: DT_FLOAT")) +
                           node("u", "AssignSubVariableOp", {"v", "g"}, f32));
  for (const char* name : {"v", "same", "value", "u"}) EXPECT_EQ(op_named(graph, name).colocate, "v") << name;
  for (const char* name : {"g", "r"}) EXPECT_EQ(op_named(graph, name).colocate, "") << name;
}

TEST(TensorflowReader, CutsTheBackEdgesOfLoopsAndSaysSo) {
  ::testing::internal::CaptureStderr();
  const Graph graph = read(placeholder("x", {4}) + node("e", "Enter", {"x"}) + node("m", "Merge", {"e", "n"}) +
                           node("s", "Switch", {"m", "x"}) + node("n", "NextIteration", {"s:1"}));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("1 back edges of loops are cut: a loop is costed as one iteration"));
  ASSERT_EQ(graph.cut_edges.size(), 1u);
  EXPECT_EQ(graph.ops[graph.cut_edges[0].first.index()].name, "n");
  EXPECT_EQ(graph.ops[graph.cut_edges[0].second.index()].name, "m");
  EXPECT_EQ(graph.edge_count(), 5u);
  EXPECT_EQ(statistics(graph).edges, 6u);  // as the file has it
  EXPECT_EQ(op_named(graph, "m").inputs[1], Operand::none());
  // What goes round in a loop is not known before the step, although only a constant enters it.
  const Graph counter = read(constant("x", {2}) + node("e", "Enter", {"x"}) + node("m", "Merge", {"e", "n"}) +
                             node("r", "Relu", {"m"}) + node("n", "NextIteration", {"r"}));
  EXPECT_EQ(prune(counter).graph.ops.size(), 4u);
}

TEST(TensorflowReader, AVariableIsResidentOnceAndItsUpdateMarksATrainingStep) {
  const std::string variable = attribute("shape", shape({10, 5})) + f32;
  const Graph graph = read(node("v", "VariableV2", {}, variable) + constant("rate", {}) + placeholder("g", {10, 5}) +
                           node("u", "ApplyGradientDescent", {"v", "rate", "g"}));
  EXPECT_EQ(statistics(graph).parameters, 51);  // and the rate
  EXPECT_EQ(statistics(graph).weights, 50);     // the rate is a coefficient
  EXPECT_EQ(op_named(graph, "u").phase, Phase::update);
  EXPECT_EQ(statistics(graph).flops, 100);  // two operations an element
  EXPECT_EQ(tensor_named(graph, "v:0").shape.str(), "10x5");
  EXPECT_EQ(resident_bytes(graph, OpId{0}), 200);
  // Its output stands for the parameter from here on, as with every shared one.
  const Graph shared = share_parameters(graph).graph;
  EXPECT_EQ(resident_bytes(shared, OpId{0}), 0);
}

TEST(TensorflowReader, TextMayBeWrittenInManyWays) {
  const Graph graph = read(
      "# a comment\nnode < name: 'x' op: 'Place' \"holder\", >;\nversions { producer: 27 }\n"
      "node { name: \"\\x61\\142\" op: \"AddN\" input: [\"x\", 'x'] unknown_field { deep: [1, 2] [ext.name] { a: 1 } } "
      "attr { key: \"N\" value { i: 2 } } attr { key: \"f\" value { f: -1.5e+0f } } attr { key: \"b\" value { b: true "
      "} } }");
  ASSERT_EQ(graph.ops.size(), 2u);
  EXPECT_EQ(graph.ops[0].type, "Placeholder");
  EXPECT_EQ(graph.ops[1].name, "ab");
  EXPECT_EQ(graph.ops[1].inputs.size(), 2u);
  EXPECT_EQ(std::get<double>(graph.ops[1].attributes.at("f")), -1.5);
  EXPECT_EQ(std::get<std::int64_t>(graph.ops[1].attributes.at("b")), 1);
}

TEST(TensorflowReader, BinaryAndTextGiveTheSameGraph) {
  using namespace proto;
  const std::string type = field(6, 1), dims = field(2, field(1, -1)) + field(2, field(1, 8)) + field(2, field(1, 8)) +
                                               field(2, field(1, 3));
  const std::string weight_dims =
      field(2, field(1, 3)) + field(2, field(1, 3)) + field(2, field(1, 3)) + field(2, field(1, 4));
  const auto node_def = [](const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
                           const std::vector<std::pair<std::string, std::string>>& attributes) {
    std::string bytes = field(1, name) + field(2, op);
    for (const std::string& input : inputs) bytes += field(3, input);
    for (const auto& [key, value] : attributes) bytes += field(5, field(1, key) + field(2, value));
    return field(1, bytes);
  };
  const std::string bytes =
      node_def("x", "Placeholder", {}, {{"dtype", type}, {"shape", field(7, dims)}}) +
      node_def("w", "Const", {},
               {{"dtype", type},
                {"value", field(8, field(1, 1) + field(2, weight_dims) + field(4, std::string(432, 'w')))}}) +
      node_def("c", "Conv2D", {"x", "w"},
               {{"T", type},
                {"strides", field(1, field(3, varint(1) + varint(2) + varint(2) + varint(1)))},
                {"padding", field(2, "SAME")},
                {"data_format", field(2, "NHWC")}}) +
      node_def("r", "Relu", {"c:0"}, {{"T", type}}) + field(4, field(1, 27));
  for (const char* name : {"m.pb", "m.bin"}) {
    const Graph binary = read_model_text(bytes, name), text = read(conv(-1));
    ASSERT_EQ(binary.ops.size(), text.ops.size());
    for (std::size_t i = 0; i < text.ops.size(); ++i) {
      EXPECT_EQ(binary.ops[i].name, text.ops[i].name);
      EXPECT_EQ(binary.ops[i].type, text.ops[i].type);
      EXPECT_EQ(binary.ops[i].attributes, text.ops[i].attributes);
      EXPECT_EQ(binary.ops[i].inputs, text.ops[i].inputs);
    }
    for (std::size_t i = 0; i < text.tensors.size(); ++i) {
      EXPECT_EQ(binary.tensors[i].name, text.tensors[i].name);
      EXPECT_EQ(binary.tensors[i].shape, text.tensors[i].shape);
      EXPECT_EQ(binary.tensors[i].dtype, text.tensors[i].dtype);
    }
  }
  // Cut anywhere but between two nodes it is refused; there, an input is missing unless only the end is.
  std::size_t read = 0;
  for (std::size_t length = 0; length < bytes.size(); ++length)
    read += refusal_of(bytes.substr(0, length), "m.pb") == "read without an error";
  EXPECT_LE(read, 5u);
}

TEST(TensorflowReader, WeightsThatTheFileLeavesOutAreCountedNotGuessed) {
  const std::string scope = "Mixed/";
  ::testing::internal::CaptureStderr();
  const Graph graph =
      read(placeholder("x", {1, 8, 8, 3}) + node("sub", "Sub", {"x", "sub/y"}) +
           node("c", "Conv2D", {"sub", scope + "weights"}) + node("b", "BiasAdd", {"c", scope + "biases"}));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("3 weights are not in the file, among them 'Mixed/biases'"));
  EXPECT_EQ(graph.parameters.size(), 3u);
  EXPECT_FALSE(graph.parameters[1].bytes().has_value());
}

TEST(TensorflowReader, AReferenceToAVariableHasTheVariablesType) {
  const Graph graph =
      read(node("w", "VariableV2", {}, attribute("dtype", "type: DT_FLOAT_REF") + attribute("shape", shape({3, 4}))));
  ASSERT_EQ(graph.parameters.size(), 1U);
  EXPECT_EQ(graph.parameters[0].bytes(), 48);
}

TEST(TensorflowReader, RefusesBrokenGraphsByNode) {
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("versions { producer: 3 }"), HasSubstr("the graph has no nodes"));
  EXPECT_THAT(refusal(node("", "Relu")), HasSubstr("node 0 has no name"));
  EXPECT_THAT(refusal(node("a", "")), HasSubstr("node 'a' has no op"));
  EXPECT_THAT(refusal(node("a", "NoOp") + node("a", "NoOp")), HasSubstr("nodes 0 and 1 are both named 'a'"));
  EXPECT_THAT(refusal(node("a", "Relu", {"b"})), HasSubstr("node 'a': its input 'b' is no node of the graph"));
  EXPECT_THAT(refusal(constant("x", {1}) + node("a", "Add", {"x", "y"})), HasSubstr("its input 'y' is no node"));
  EXPECT_THAT(refusal(constant("x", {1}) + node("a", "Add", {"x", "^a/y"})), HasSubstr("its input '^a/y' is no node"));
  EXPECT_THAT(refusal(node("a", "Relu", {"b"}) + node("b", "Relu", {"a"})), HasSubstr("the graph has a cycle: "));
  EXPECT_THAT(refusal(constant("x", {2, -3})), HasSubstr("node 'x': its value has the open or negative shape"));
  EXPECT_THAT(refusal(placeholder("x", {2, -3})),
              HasSubstr("tensor 'x:0' has shape 2x? with the negative dimension -3"));
  EXPECT_THAT(refusal(placeholder("x", {0, 5})), HasSubstr("input 'x' has shape 0x5, with a dimension of size 0"));
  EXPECT_THAT(refusal(placeholder("x", {std::int64_t{1} << 62, 5})), HasSubstr("is larger than 2^62 bytes"));
  EXPECT_THAT(refusal(node("a", "Relu", {}, attribute("T", "type: DT_FLOAT99"))),
              HasSubstr("line 1: the name 'DT_FLOAT99' is not known (did you mean 'DT_FLOAT'?)"));
  EXPECT_THAT(refusal(node("a", "Relu", {}, attribute("T", "type: 77"))),
              HasSubstr("node 'a': has the element type 77"));
  EXPECT_THAT(refusal(node("a", "Relu", {}, attribute("_output_shapes", "list { " + shape({1}) + "}")) +
                      node("b", "Relu", {"a:1"})),
              HasSubstr("node 'b': its input 'a:1' is output 1 of a node that has 1"));
  EXPECT_THAT(refusal(node("\\377", "NoOp")), HasSubstr("line 1: a name is not valid UTF-8"));
}

// What frozen models state their sizes by: constants inside their nodes, as numbers or as bytes (2 and 12).
TEST(TensorflowReader, ShapesFollowFromSmallConstants) {
  const auto wholes = [](const std::string& name, const std::string& dims, const std::string& value) {
    return node(name, "Const", {},
                attribute("dtype", "type: DT_INT32") +
                    attribute("value", "tensor { dtype: DT_INT32 tensor_" + dims + value + " }"));
  };
  const std::string type = attribute("T", "type: DT_FLOAT");
  const std::string text =
      placeholder("x", {4, 6}) +
      wholes("bytes", shape({2}), "tensor_content: \"\\002\\000\\000\\000\\014\\000\\000\\000\"") +
      node("reshaped", "Reshape", {"x", "bytes"}, type) + wholes("zero", shape({2}), "int_val: 0") +
      wholes("end", shape({2}), "int_val: 1 int_val: -2") + wholes("ones", shape({2}), "int_val: 1") +
      node("sliced", "StridedSlice", {"reshaped", "zero", "end", "ones"},
           type + attribute("shrink_axis_mask", "i: 1") + attribute("begin_mask", "i: 0")) +
      wholes("axis", shape({}), "int_val: 1") +
      node("parts", "Split", {"axis", "reshaped"}, type + attribute("num_split", "i: 3")) +
      node("padded", "Pad", {"parts:2", "pads"}, type) +
      wholes("pads", shape({2, 2}), "int_val: 0 int_val: 1 int_val: 2 int_val: 3") +
      node("packed", "Pack", {"parts:1", "parts:0"}, type + attribute("axis", "i: -1")) +
      node("both", "IdentityN", {"x", "sliced"}, attribute("T", "list { type: DT_FLOAT type: DT_FLOAT }")) +
      node("last", "Relu", {"both:1"}, type) +
      node("product", "Einsum", {"x", "reshaped"}, type + attribute("equation", "s: \"ab,cd->dab\""));
  const Graph graph = read(text);
  const auto sizes = [&](const char* tensor) { return tensor_named(graph, tensor).shape.str(); };
  EXPECT_EQ(sizes("reshaped:0"), "2x12");
  EXPECT_EQ(sizes("sliced:0"), "10");
  EXPECT_EQ(sizes("parts:2"), "2x4");
  EXPECT_EQ(sizes("padded:0"), "3x9");
  EXPECT_EQ(sizes("packed:0"), "2x4x2");
  EXPECT_EQ(sizes("last:0"), "10");
  EXPECT_EQ(sizes("product:0"), "12x4x6");
}

TEST(TensorflowReader, RefusesBrokenTextByLine) {
  EXPECT_THAT(refusal("node {\n name \"a\" }"), HasSubstr("line 2: expected ':' or '{' after a field's name"));
  EXPECT_THAT(refusal("node {\n name: \"a\n\" }"), HasSubstr("line 2: a text does not end"));
  EXPECT_THAT(refusal("node {\n name: \"a\" >"), HasSubstr("line 2: expected a value, found '>'"));
  EXPECT_THAT(refusal("node { name: 5 }"), HasSubstr("expected a text, found '5'"));
  EXPECT_THAT(refusal(node("a", "X", {}, attribute("k", "i: 1.5"))), HasSubstr("expected a whole number, found '1.5'"));
  std::string deep = "node { name: \"a\" op: \"NoOp\" what ";
  for (int i = 0; i < 100'000; ++i) deep += "{ a ";
  EXPECT_THAT(refusal(deep), HasSubstr("nested deeper than 64 levels"));
  const std::string whole = conv(1);
  for (std::size_t length = 1; length + 3 < whole.size(); length += 5) {
    const std::string message = refusal(whole.substr(0, length));
    // Between two nodes a shorter graph remains.
    if (message == "read without an error") {
      EXPECT_THAT(whole.substr(length, 1), ::testing::AnyOf("n", "\n")) << length;
    }
  }
}

TEST(TensorflowReader, ClaimsOfHugeSizesCostNothing) {
  using namespace proto;
  const std::string huge = "\xff\xff\xff\xff\xff\xff\xff\xff\x7f";
  EXPECT_THAT(refusal_of("\x0a" + huge, "m.pb"), HasSubstr("does not fit in the 0 that are left"));
  EXPECT_THAT(refusal_of(field(1, "\x0a" + huge), "m.pb"), HasSubstr("does not fit in the 0 that are left"));
  // The file does not state how many outputs an op has, so an input may name any number; only named ones are made.
  const Graph graph = read(constant("x", {1}) + node("a", "Unpack", {"x"}) + node("b", "Relu", {"a:4000000000"}));
  EXPECT_EQ(op_named(graph, "a").outputs.size(), 2u);
  // Shapes of two bytes in the file take far more as objects.
  std::string shapes;
  for (int i = 0; i < 30'000'000; ++i) shapes += std::string("\x3a\x00", 2);
  const std::string list = field(5, field(1, "_output_shapes") + field(2, field(1, shapes)));
  EXPECT_THAT(refusal_of(field(1, field(1, "a") + field(2, "X") + list), "m.pb"), HasSubstr("more than 65536 shapes"));
}

}  // namespace
}  // namespace emplace::formats::graphdef_test
