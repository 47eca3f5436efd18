// TensorFlow.js model.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "graph/ops/op_table.hpp"
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

// TensorFlow.js takes a text as base64 and as a list of its bytes.
TEST(TfjsReader, TakesTextsAsListsOfBytes) {
  std::string listed = nodes;
  const auto replace = [&](const std::string& from, const std::string& to) {
    listed.replace(listed.find(from), from.size(), to);
  };
  replace(R"("VkFMSUQ=")", "[86, 65, 76, 73, 68]");  // VALID
  replace(R"("TkhXQw==")", "[78, 72, 87, 67]");      // NHWC
  replace(R"("UmVsdTY=")", "[82, 101, 108, 117, 54]");
  const ReadOptions two{.shapes = {}, .batch = 2};
  const Graph graph = read_model_text(model(listed, weights), "model.json", two);
  EXPECT_EQ(tensor_named(graph, "c:0").shape.str(), "2x6x6x4");
  EXPECT_EQ(std::get<std::string>(graph.ops[2].attributes.at("fused_ops")), "BiasAdd,Relu6");
  // 2 x 27 for each of the 2 x 6 x 6 x 4 results.
  EXPECT_GE(statistics(graph).flops, 2 * 27 * 288);
  EXPECT_EQ(statistics(graph).flops, statistics(read_model_text(model(nodes, weights), "model.json", two)).flops);
  replace("[78, 72, 87, 67]", "[78, 256]");
  EXPECT_THAT(refusal(listed, weights), HasSubstr("attr.data_format.s[1]"));
}

// The list that a loop over the images fills has a size that no rule finds; without it the convolution has no FLOPs.
TEST(TfjsReader, TakesTheSizeOfATensorInsideTheGraph) {
  std::string listed = nodes;
  listed.replace(listed.find(R"("input": ["x", "w", "^x"])"), 25, R"("input": ["list", "w"])");
  listed +=
      R"(, {"name": "list", "op": "TensorListStack", "input": ["x"], "attr": {"element_dtype": {"type": "DT_FLOAT"}}})";
  const std::string text = model(listed, weights);
  const auto flops = [&](const std::map<std::string, std::vector<std::int64_t>>& shapes) {
    return statistics(read_model_text(text, "model.json", {.shapes = shapes, .batch = {}})).flops;
  };
  EXPECT_EQ(flops({{"x", {2, 8, 8, 3}}}), 0);
  EXPECT_GE(flops({{"x", {2, 8, 8, 3}}, {"list", {2, 8, 8, 3}}}), 2 * 27 * 288);
  EXPECT_THAT(refusal_of(text, "model.json", {.shapes = {{"lost", {2}}}, .batch = {}}),
              HasSubstr("the model has no input 'lost'"));
  EXPECT_THAT(refusal_of(text, "model.json", {.shapes = {{"list:3", {2}}}, .batch = {}}),
              HasSubstr("there is no tensor 'list:3'"));
}

// x of 4 x 6 is reshaped as a constant says that the node itself holds.
TEST(TfjsReader, TakesValuesOfConstantsInsideTheirNodes) {
  const auto reshaped = [](const std::string& type, const std::string& size, const std::string& value) {
    const std::string text = model(
        R"({"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {"dim": [{"size": "4"}, {"size": "6"}]}}}},
        {"name": "target", "op": "Const", "attr": {"dtype": {"type": ")" +
            type + R"("}, "value": {"tensor": {)" + value + R"(, "dtype": ")" + type +
            R"(", "tensorShape": {"dim": [{"size": ")" + size + R"("}]}}}}},
        {"name": "r", "op": "Reshape", "input": ["x", "target"]})",
        "");
    return tensor_named(read_model_text(text, "model.json"), "r:0").shape.str();
  };
  EXPECT_EQ(reshaped("DT_INT32", "3", R"("intVal": [4, "3", 2])"), "4x3x2");
  EXPECT_EQ(reshaped("DT_INT64", "2", R"("int64Val": ["8", 3])"), "8x3");
  EXPECT_EQ(reshaped("DT_INT32", "2", R"("tensorContent": "CAAAAAMAAAA=")"), "8x3");
  EXPECT_EQ(reshaped("DT_INT32", "2", R"("tensorContent": [12, 0, 0, 0, 254, 255, 255, 255])"), "unknown rank");  // -2
  EXPECT_EQ(reshaped("DT_INT32", "2", R"("tensorContent": [12, 0, 0, 0, 2, 0, 0, 0])"), "12x2");
  // Values that do not fit the shape are not used, as are those that no shape has.
  EXPECT_EQ(reshaped("DT_INT32", "3", R"("intVal": [4, 6])"), "unknown rank");
  EXPECT_EQ(reshaped("DT_INT32", "2", R"("tensorContent": "CAAAAAMA")"), "unknown rank");
  for (const char* no_values : {R"("tensorContent": null)", R"("tensorContent": 7)", R"("intVal": 7)"})
    EXPECT_EQ(reshaped("DT_INT32", "2", no_values), "unknown rank") << no_values;
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

// x is reshaped and turned as two constants say; w lies between them in the files.
class TfjsShards : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto constant = [](const std::string& name) {
      return R"({"name": ")" + name + R"(", "op": "Const", "attr": {"dtype": {"type": "DT_INT32"}}})";
    };
    const std::string text = model(
        R"({"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {"dim": [{"size": "-1"}, {"size": "6"}]}}}},)" +
            constant("target") + "," + constant("order") +
            R"(,{"name": "r", "op": "Reshape", "input": ["x", "target"]},
            {"name": "t", "op": "Transpose", "input": ["r", "order"]},
            {"name": "s", "op": "TensorListStack", "input": ["x", "target"], "attr": {"num_elements": {"i": "5"}}})",
        R"({"name": "target", "shape": [3], "dtype": "int32"}, {"name": "w", "shape": [2], "dtype": "float32", "quantization": {"dtype": "uint8", "scale": 1, "min": 0}}, {"name": "order", "shape": [3], "dtype": "int32"})");
    std::string listed = text;
    listed.replace(listed.find(R"(["group1-shard1of1"])"), 20, R"(["a.bin", "b.bin"])");
    std::ofstream(folder_ / "model.json") << listed;
  }
  // The shards, cut after `first` bytes.
  void write_shards(std::size_t first, std::size_t all = 26) const {
    std::string bytes;
    const auto put = [&](std::int32_t number) {
      for (int k = 0; k < 4; ++k) bytes += static_cast<char>(static_cast<std::uint32_t>(number) >> 8 * k);
    };
    for (const std::int32_t size : {-1, 3, 2}) put(size);
    bytes += "ww";
    for (const std::int32_t axis : {2, 0, 1}) put(axis);
    bytes.resize(all);
    std::ofstream(folder_ / "a.bin", std::ios::binary) << bytes.substr(0, first);
    std::ofstream(folder_ / "b.bin", std::ios::binary) << bytes.substr(first);
  }
  [[nodiscard]] std::string turned() const {
    const Graph graph = read_graph(folder_ / "model.json", {.shapes = {}, .batch = 4});
    return tensor_named(graph, "t:0").shape.str();
  }
  test::TemporaryFolder folder_;
};

TEST_F(TfjsShards, GiveTheShapesThatSmallConstantsDetermine) {
  for (const std::size_t first : {0, 5, 12, 17, 26}) {
    write_shards(first);
    EXPECT_EQ(turned(), "2x4x3") << "cut after " << first;
  }
}

TEST_F(TfjsShards, GiveTheShapeOfAListThatIsStacked) {
  write_shards(12);
  const Graph graph = read_graph(folder_ / "model.json", {.shapes = {}, .batch = 4});
  EXPECT_EQ(tensor_named(graph, "s:0").shape.str(), "5x?x3x2");
}

TEST_F(TfjsShards, MayBeMissing) { EXPECT_EQ(turned(), "unknown rank"); }

TEST_F(TfjsShards, ThatEndEarlyAreNamedInAWarning) {
  write_shards(12, 20);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(turned(), "unknown rank");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("b.bin: ends before the constant 'order'"));
}

}  // namespace
}  // namespace emplace::formats::tfjs_test
