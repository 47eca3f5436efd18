// TensorFlow.js model.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/formats/model_text.hpp"

namespace emplace::formats::tfjs_test {
namespace {

using ::testing::HasSubstr;

const std::string nodes = R"(
{"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {"dim": [{"size": "-1"}, {"size": "8"}, {"size": "8"}, {"size": "3"}]}}}},
{"name": "w", "op": "Const", "attr": {"dtype": {"type": "DT_FLOAT"}}},
{"name": "c", "op": "_FusedConv2D", "input": ["x", "w", "^x"], "device": "/cpu:0", "attr": {"T": {"type": 1}, "padding": {"s": "VkFMSUQ="},
 "strides": {"list": {"i": ["1", "1", 1, "1"]}}, "fused_ops": {"list": {"s": ["Qmlhc0FkZA==", "UmVsdTY="]}}, "data_format": {"s": "TkhXQw=="}}})";
const std::string weights = R"({"name": "w", "shape": [3, 3, 3, 4], "dtype": "float32"})";

std::string model(const std::string& some_nodes, const std::string& some_weights) {
  return R"({"format": "graph-model", "modelTopology": {"node": [)" + some_nodes +
         R"(]}, "weightsManifest": [{"paths": ["group1-shard1of1"], "weights": [)" + some_weights + "]}]}";
}
std::string refusal(const std::string& some_nodes, const std::string& some_weights) {
  return refusal_of(model(some_nodes, some_weights), "model.json");
}

TEST(TfjsReader, TakesShapesOfConstantsFromTheManifest) {
  const Graph graph = read_model_text(model(nodes, weights), "model.json", {.shapes = {}, .batch = 2});
  ASSERT_EQ(graph.ops.size(), 3u);
  EXPECT_EQ(graph.parameters[0].bytes(), 432);
  EXPECT_EQ(tensor_named(graph, "w:0").shape.str(), "3x3x3x4");
  EXPECT_EQ(tensor_named(graph, "c:0").shape.str(), "2x6x6x4");  // VALID
  EXPECT_EQ(std::get<std::string>(graph.ops[2].attributes.at("fused_ops")), "BiasAdd,Relu6");
  EXPECT_EQ(graph.edge_count(), 2u);
}

TEST(TfjsReader, RefusesBrokenModels) {
  const std::string file = model(nodes, weights);
  for (std::size_t length = 1; length < file.size(); length += 11)
    EXPECT_NE(refusal_of(file.substr(0, length), "model.json"), "read without an error") << length;
  EXPECT_THAT(refusal_of("{}", "model.json"), HasSubstr("is no TensorFlow.js model: it has no modelTopology"));
  EXPECT_THAT(refusal_of(R"({"format": "layers-model", "modelTopology": {"keras_version": "2"}})", "model.json"),
              HasSubstr("a layers model (Keras) must be converted"));
  EXPECT_THAT(refusal("", ""), HasSubstr("the graph has no nodes"));
  EXPECT_THAT(refusal(nodes, weights + ", " + weights), HasSubstr("the weight 'w' is listed twice"));
  EXPECT_THAT(refusal(nodes, R"({"name": "w", "shape": [-3], "dtype": "float32"})"), HasSubstr("weights[0].shape[0]"));
  EXPECT_THAT(refusal(nodes, R"({"name": "w", "shape": [3], "dtype": "float33"})"),
              HasSubstr("the element type 'float33' is not known"));
  EXPECT_THAT(refusal(R"({"name": "a", "op": "Relu", "input": ["b"]})", ""), HasSubstr("its input 'b' is no node"));
  EXPECT_THAT(refusal(R"({"name": "a", "op": "Relu", "input": "b"})", ""),
              HasSubstr("node[0].input: must be an array, got the text 'b'"));
  EXPECT_THAT(
      refusal(
          R"({"name": "w", "op": "Const", "attr": {"value": {"tensor": {"dtype": "DT_FLOAT", "tensorShape": {"dim": [{"size": "2"}]}}}}})",
          weights),
      HasSubstr("the constant 'w' has the shape 2, and 3x3x3x4 in weightsManifest"));
}

}  // namespace
}  // namespace emplace::formats::tfjs_test
