// Bad and hostile ONNX files: each ends with one InputError that names the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "tests/formats/onnx_builder.hpp"

namespace emplace::formats::onnx_refusals_test {
namespace {

using ::testing::HasSubstr;

std::string error_of_file(std::string_view content) {
  const TemporaryFile file(content);
  try {
    read_graph(file.path());
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith(file.path() + ": "));
    return error.what();
  }
  return "read without an error";
}

std::string error_of(const onnx::ModelProto& model) { return error_of_file(model.SerializeAsString()); }

onnx::GraphProto& graph_of(onnx::ModelProto& model) { return *model.mutable_graph(); }

TEST(OnnxReader, RefusesFilesThatAreNoModels) {
  EXPECT_THAT(error_of_file(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of_file("<html>not found</html>"), HasSubstr("is not an ONNX model"));
  EXPECT_THAT(error_of_file("version https://git-lfs.github.com/spec/v1"), HasSubstr("is not an ONNX model"));
  EXPECT_THAT(error_of_file("{\"emplace\": \"problem/1\"}"), HasSubstr("is not an ONNX model"));
  EXPECT_THAT(error_of_file(std::string(1000, '\0')), HasSubstr("is not an ONNX model"));
  EXPECT_THAT(error_of_file(std::string(1000, '\xFF')), HasSubstr("is not an ONNX model"));
  onnx::ModelProto no_graph;
  no_graph.set_ir_version(8);
  EXPECT_THAT(error_of(no_graph), HasSubstr("holds no graph"));
  EXPECT_THAT(error_of(empty_model()), HasSubstr("the graph has no nodes"));
}

TEST(OnnxReader, RefusesFilesThatCannotBeRead) {
  EXPECT_THROW(read_graph("no/such/model.onnx"), InputError);
  EXPECT_THROW(read_graph("."), InputError);
  EXPECT_THROW(read_graph("/dev/null"), InputError);
}

TEST(OnnxReader, AFileCutAnywhereIsRefusedOrHoldsLess) {
  const std::string whole = conv_model().SerializeAsString();
  std::size_t refused = 0;
  for (std::size_t length = 0; length < whole.size(); ++length)
    refused += error_of_file(whole.substr(0, length)) != "read without an error";
  // The opset import stands last in the file (12 bytes at most); every shorter piece lacks a part of the graph.
  EXPECT_GE(refused, whole.size() - 12);
}

TEST(OnnxReader, AFileWithAnyByteChangedIsReadOrRefused) {
  const std::string whole = conv_model({1, 3, 8, 8}).SerializeAsString();
  log::configure(log::Level::error, false);  // hundreds of nodes without a shape
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int change : {0x01, 0x80, 0xFF}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      EXPECT_NO_THROW(error_of_file(changed));  // anything but an InputError is a bug
    }
  log::configure(log::Level::warning, false);
}

TEST(OnnxReader, RefusesACycle) {
  onnx::ModelProto model = conv_model();
  *graph_of(model).add_node() = make_node("Add", "first", {"y", "b2"}, {"a2"});
  *graph_of(model).add_node() = make_node("Neg", "second", {"a2"}, {"b2"});
  EXPECT_THAT(error_of(model), ::testing::AllOf(HasSubstr("cycle"), HasSubstr("first"), HasSubstr("second")));
}

TEST(OnnxReader, RefusesRepeatedAndUnknownNames) {
  onnx::ModelProto same_tensor = conv_model();
  *graph_of(same_tensor).add_node() = make_node("Neg", "neg", {"c"}, {"y"});
  EXPECT_THAT(error_of(same_tensor), HasSubstr("'y' is defined twice, the second time as output of node 'neg'"));

  onnx::ModelProto same_weight = conv_model();
  *graph_of(same_weight).add_initializer() = make_tensor("w", {1});
  EXPECT_THAT(error_of(same_weight), HasSubstr("'w' is defined twice, the second time as initializer"));

  onnx::ModelProto same_input = conv_model();
  set_type(*graph_of(same_input).add_input(), "x", {1});
  EXPECT_THAT(error_of(same_input), HasSubstr("'x' is defined twice, the second time as graph input"));

  onnx::ModelProto dangling = conv_model();
  graph_of(dangling).mutable_node(1)->set_input(0, "nowhere");
  EXPECT_THAT(error_of(dangling), HasSubstr("node 'relu' refers to 'nowhere', which is no input"));

  onnx::ModelProto no_output = conv_model();
  graph_of(no_output).mutable_output(0)->set_name("nowhere");
  EXPECT_THAT(error_of(no_output), HasSubstr("graph output refers to 'nowhere'"));

  onnx::ModelProto bad_text = conv_model();
  graph_of(bad_text).mutable_node(1)->set_name("relu\xFF");
  EXPECT_THAT(error_of(bad_text), HasSubstr("not valid UTF-8"));

  onnx::ModelProto no_type = conv_model();
  graph_of(no_type).mutable_node(1)->clear_op_type();
  EXPECT_THAT(error_of(no_type), HasSubstr("node 1 'relu' has no op_type"));
}

TEST(OnnxReader, RefusesTensorsOfNegativeOrOverflowingSizeOrUnknownType) {
  onnx::ModelProto negative = conv_model();
  graph_of(negative).mutable_initializer(0)->set_dims(0, -4);
  EXPECT_THAT(error_of(negative), HasSubstr("initializer 'w': has a dimension of negative size -4"));

  onnx::ModelProto huge = conv_model();
  for (int i = 0; i < 4; ++i) graph_of(huge).mutable_initializer(0)->set_dims(i, 1LL << 40);
  EXPECT_THAT(error_of(huge), HasSubstr("initializer 'w': has more than 2^62 bytes"));

  onnx::ModelProto wraps = conv_model();  // 2^64 elements would wrap to 0
  graph_of(wraps).mutable_initializer(1)->set_dims(0, 1LL << 62);
  graph_of(wraps).mutable_initializer(1)->add_dims(4);
  EXPECT_THAT(error_of(wraps), HasSubstr("initializer 'b': has more than 2^62 bytes"));

  EXPECT_THAT(error_of(conv_model({0, 3, 8, 8})), HasSubstr("input 'x' has shape 0x3x8x8, with a dimension of size 0"));
  EXPECT_THAT(error_of(conv_model({1, 3, -8, 8})), HasSubstr("tensor 'x' has a dimension of negative size -8"));

  onnx::ModelProto input = conv_model();
  for (int i = 0; i < 4; ++i)
    graph_of(input)
        .mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(i)
        ->set_dim_value(1LL << 50);
  EXPECT_THAT(error_of(input), HasSubstr("'x'"));

  onnx::ModelProto type = conv_model();
  graph_of(type).mutable_initializer(0)->set_data_type(99);
  EXPECT_THAT(error_of(type), HasSubstr("initializer 'w': has the element type 99; known are 0 to 16"));

  onnx::ModelProto no_type = conv_model();
  graph_of(no_type).mutable_initializer(0)->clear_data_type();
  EXPECT_THAT(error_of(no_type), HasSubstr("initializer 'w': has no element type"));

  onnx::ModelProto input_type = conv_model();
  graph_of(input_type).mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(77);
  EXPECT_THAT(error_of(input_type), HasSubstr("tensor 'x': has the element type 77"));
}

TEST(OnnxReader, SubGraphsThatReadUnknownNamesAreRefused) {
  onnx::ModelProto model = conv_model();
  onnx::NodeProto branch = make_node("If", "if", {"y"}, {"z"});
  auto& graph = *add_attribute(branch, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
  *graph.add_node() = make_node("Neg", "", {"missing"}, {"n"});
  graph.add_output()->set_name("n");
  *graph_of(model).add_node() = branch;
  EXPECT_THAT(error_of(model), HasSubstr("node 'if' refers to 'missing'"));
}

// Each step doubles the number of dimensions: 2 r - 1 after r.
TEST(OnnxReader, DimensionsThatDoubleWithEveryNodeAreRefusedEarly) {
  onnx::ModelProto model = empty_model();
  set_type(*graph_of(model).add_input(), "t0", {2, 2}, onnx::TensorProto::INT64);
  for (int i = 0; i < 60; ++i) {
    const std::string from = "t" + std::to_string(i);
    *graph_of(model).add_node() = make_node("Gather", "", {from, from}, {"t" + std::to_string(i + 1)});
  }
  EXPECT_THAT(error_of(model), HasSubstr("would have 65 dimensions"));
}

// libonnx would add 2^30 dimensions, one by one.
TEST(OnnxReader, ShapesWithMoreSizesThanATensorHasDimensionsAreRefusedEarly) {
  onnx::ModelProto model = empty_model();
  set_type(*graph_of(model).add_input(), "x", {2, 2});
  set_type(*graph_of(model).add_input(), "sizes", {1 << 30}, onnx::TensorProto::INT64);
  *graph_of(model).add_node() = make_node("Expand", "e", {"x", "sizes"}, {"y"});
  EXPECT_THAT(error_of(model), HasSubstr("node 'e' (Expand): its output would have 1073741824 dimensions"));
}

// Each step doubles the length of a vector that data propagation follows.
TEST(OnnxReader, VectorsThatDoubleWithEveryNodeStayUnknown) {
  onnx::ModelProto model = empty_model();
  *graph_of(model).add_initializer() = make_vector("t0", {1, 2, 3, 4});
  for (int i = 0; i < 28; ++i) {
    const std::string from = "t" + std::to_string(i);
    *graph_of(model).add_node() = make_node("Concat", "", {from, from}, {"t" + std::to_string(i + 1)});
    add_attribute(*graph_of(model).mutable_node(i), "axis", onnx::AttributeProto::INT).set_i(0);
  }
  const TemporaryFile file(model.SerializeAsString());
  const Graph graph = read_graph(file.path());
  EXPECT_EQ(graph.tensors.back().shape.str(), std::to_string(4LL << 28));
}

TEST(OnnxReader, DeeplyNestedSubGraphsAreRefused) {
  onnx::GraphProto inner;
  inner.set_name("g");
  *inner.add_node() = make_node("Neg", "", {"x"}, {"n"});
  inner.add_output()->set_name("n");
  for (int depth = 0; depth < 40; ++depth) {
    onnx::NodeProto branch = make_node("If", "", {"x"}, {"n"});
    *add_attribute(branch, "then_branch", onnx::AttributeProto::GRAPH).mutable_g() = inner;
    onnx::GraphProto outer;
    *outer.add_node() = branch;
    outer.add_output()->set_name("n");
    inner = outer;
  }
  onnx::ModelProto model = empty_model();
  graph_of(model) = inner;
  set_type(*graph_of(model).add_input(), "x", {1});
  EXPECT_THAT(error_of(model), HasSubstr("its sub-graphs are nested too deeply"));
}

// f0 calls f1 twice, f1 calls f2 twice, ...: 2^25 nodes; and a function that calls itself.
TEST(OnnxReader, FunctionsThatExpandWithoutEndAreRefused) {
  for (const bool recursive : {false, true}) {
    onnx::ModelProto model = conv_model({1, 3, 8, 8});
    auto& import = *model.add_opset_import();
    import.set_domain("local");
    import.set_version(1);
    for (int i = 0; i < (recursive ? 1 : 25); ++i) {
      auto& function = *model.add_functions();
      function.set_domain("local");
      function.set_name("f" + std::to_string(i));
      function.add_input("a");
      function.add_output("c");
      *function.add_opset_import() = import;
      const std::string callee = "f" + std::to_string(recursive ? 0 : i + 1);
      *function.add_node() = make_node(callee, "", {"a"}, {"b"});
      *function.add_node() = make_node(callee, "", {"b"}, {"c"});
      for (auto& node : *function.mutable_node()) node.set_domain("local");
    }
    graph_of(model).mutable_node(1)->set_op_type("f0");
    graph_of(model).mutable_node(1)->set_domain("local");
    EXPECT_THAT(error_of(model), HasSubstr(recursive ? "nested deeper than 32" : "expand to more than 300000 nodes"));
  }
}

TEST(OnnxReader, MillionsOfEmptyNodesAreRefusedBeforeTheyFillTheMemory) {
  // graph (field 7) of 10 million nodes (field 1) of length 0: 20 MB in the file, over a gigabyte as objects.
  std::string nodes;
  for (int i = 0; i < 10'000'000; ++i) nodes += std::string("\x0A\x00", 2);
  std::string file = "\x08\x08\x3A";
  for (std::size_t length = nodes.size(); length > 0; length >>= 7)
    file += static_cast<char>((length & 0x7F) | (length >= 0x80 ? 0x80 : 0));
  EXPECT_THAT(error_of_file(file + nodes), HasSubstr("is too large"));
}

// libonnx divides by the stride, and reads three dimensions of an old RNN's input whatever there is.
TEST(OnnxReader, NodesOnWhichLibonnxCrashesAreRefusedByName) {
  onnx::ModelProto stride = conv_model({1, 3, 8, 8});
  auto& strides = add_attribute(*graph_of(stride).mutable_node(0), "strides", onnx::AttributeProto::INTS);
  strides.add_ints(0);
  strides.add_ints(0);
  EXPECT_THAT(error_of(stride), HasSubstr("node 'conv' (Conv): shape inference crashed on it (signal 8"));
}

TEST(OnnxReader, NodesThatBreakTheirSchemaHaveUnknownShapesButDoNotStopTheReader) {
  onnx::ModelProto model = conv_model({1, 3, 8, 8});
  graph_of(model).mutable_node(0)->mutable_input()->RemoveLast();
  graph_of(model).mutable_node(0)->mutable_input()->RemoveLast();  // Conv with one input
  const TemporaryFile file(model.SerializeAsString());
  const Graph graph = read_graph(file.path());
  EXPECT_EQ(graph.tensors.back().shape.str(), "unknown rank");
}

}  // namespace
}  // namespace emplace::formats::onnx_refusals_test
