// OpenVINO IR, good and bad.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/formats/model_text.hpp"
#include "tests/support/outside_files.hpp"

namespace emplace::formats::openvino_test {
namespace {

using ::testing::HasSubstr;

std::string port(int id, const std::vector<std::int64_t>& dims) {
  std::string text = "<port id=\"" + std::to_string(id) + "\" precision=\"FP32\">";
  for (const std::int64_t dim : dims) text += "<dim>" + std::to_string(dim) + "</dim>";
  return text + "</port>";
}
std::string edge(int from, int from_port, int to, int to_port) {
  return "<edge from-layer=\"" + std::to_string(from) + "\" from-port=\"" + std::to_string(from_port) +
         "\" to-layer=\"" + std::to_string(to) + "\" to-port=\"" + std::to_string(to_port) + "\"/>";
}
std::string net(const std::string& layers, const std::string& edges, const std::string& version = "11") {
  return "<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"" + version + "\"><layers>" + layers + "</layers><edges>" +
         edges + "</edges></net>";
}
std::string input(std::int64_t batch) {
  return "<layer id=\"0\" name=\"x\" type=\"Parameter\"><data shape=\"?,3,8,8\" element_type=\"f32\"/><output>" +
         port(0, {batch, 3, 8, 8}) + "</output></layer>";
}
std::string weight(const std::string& size = "432", const std::string& type = "f32") {
  return "<layer id=\"1\" name=\"w\" type=\"Const\"><data element_type=\"" + type +
         "\" shape=\"4, 3, 3, 3\" offset=\"0\" size=\"" + size + "\"/><output>" + port(0, {4, 3, 3, 3}) +
         "</output></layer>";
}
std::string conv(std::int64_t batch) {
  return "<layer id=\"2\" name=\"c\" type=\"Convolution\"><data strides=\"1, 1\" dilations=\"1, 1\" "
         "pads_begin=\"0, 0\" pads_end=\"0, 0\" auto_pad=\"explicit\"/><input><port id=\"0\"/><port id=\"1\"/></input>"
         "<output>" +
         port(2, {batch, 4, 6, 6}) + "</output></layer>";
}
const std::string edges = edge(0, 0, 2, 0) + edge(1, 0, 2, 1);
std::string conv_net(std::int64_t batch) { return net(input(batch) + weight() + conv(batch), edges); }

TEST(OpenVinoReader, ReadsLayersPortsAndConstants) {
  const Graph graph = read_model_text(conv_net(1), "m.xml");
  EXPECT_EQ(graph.name, "m");
  ASSERT_EQ(graph.ops.size(), 3u);
  EXPECT_EQ(graph.ops[2].type, "Conv");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(graph.ops[2].attributes.at("strides")),
            (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(tensor_named(graph, "c:0").shape.str(), "1x4x6x6");
  ASSERT_EQ(graph.parameters.size(), 1u);
  EXPECT_EQ(graph.parameters[0].bytes(), 432);  // 4 x 3 x 3 x 3 floats
  EXPECT_EQ(graph.edge_count(), 2u);
  // 4 x 6 x 6 outputs, each of 3 x 3 x 3 multiply-adds.
  EXPECT_EQ(statistics(graph).flops, 2 * 144 * 27);
}

TEST(OpenVinoReader, PruningMakesTheConstantATrainableWeightOfItsConsumer) {
  const Graph graph = prune(read_model_text(conv_net(1), "m.xml")).graph;
  ASSERT_EQ(graph.ops.size(), 2u);  // the input and the convolution
  EXPECT_TRUE(graph.ops[1].inputs[1].is_parameter());
  EXPECT_TRUE(graph.parameters[graph.ops[1].inputs[1].index].trainable);
}

TEST(OpenVinoReader, PruningDropsTheMarkOfAnOutputAndKeepsTheOutput) {
  const std::string mark = "<layer id=\"3\" name=\"r\" type=\"Result\"><input><port id=\"0\"/></input></layer>";
  const std::string text = net(input(1) + weight() + conv(1) + mark, edges + edge(2, 2, 3, 0));
  const Graph graph = prune(read_model_text(text, "m.xml")).graph;
  ASSERT_EQ(graph.ops.size(), 2u);
  EXPECT_TRUE(tensor_named(graph, "c:0").consumers.empty());
  EXPECT_TRUE(statistics(expand_training(graph, {}).graph).uncosted_ops.empty());
}

TEST(OpenVinoReader, FixesAnOpenBatchAndWhatFollowsFromIt) {
  const Graph open = read_model_text(conv_net(-1), "m.xml");
  EXPECT_EQ(tensor_named(open, "c:0").shape.str(), "?x4x6x6");
  const Graph fixed = read_model_text(conv_net(-1), "m.xml", {.shapes = {}, .batch = 5});
  EXPECT_EQ(tensor_named(fixed, "c:0").shape.str(), "5x4x6x6");
  const Graph named = read_model_text(conv_net(-1), "m.xml", {.shapes = {{"x", {7, 3, 8, 8}}}, .batch = {}});
  EXPECT_EQ(tensor_named(named, "c:0").shape.str(), "7x4x6x6");
}

TEST(OpenVinoReader, RefusesSizesThatDoNotFitTheInput) {
  const auto with = [](const std::string& name, std::vector<std::int64_t> sizes) {
    return refusal_of(conv_net(-1), "m.xml", {.shapes = {{name, std::move(sizes)}}, .batch = {}});
  };
  EXPECT_THAT(with("y", {1}), HasSubstr("the model has no input 'y'"));
  EXPECT_THAT(with("x", {1, 3}), HasSubstr("input 'x' has 4 dimensions, the shape given for it has 2"));
  EXPECT_THAT(with("x", {1, 4, 8, 8}), HasSubstr("dimension 1 of input 'x' is 3 in the file"));
}

// Version 6: 4 x 4/2 x 3 x 3 halves are 144 bytes, 4 biases 8 bytes.
TEST(OpenVinoReader, ReadsTheBlobsOfVersionSix) {
  const auto layers = [](const std::string& size) {
    return "<layer id=\"0\" name=\"x\" precision=\"FP16\" type=\"Input\"><output>" + port(0, {1, 4, 8, 8}) +
           "</output></layer><layer id=\"1\" name=\"c\" precision=\"FP16\" type=\"Convolution\"><data "
           "dilations=\"1,1\" group=\"2\" kernel=\"3,3\" output=\"4\" pads_begin=\"1,1\" pads_end=\"1,1\" "
           "strides=\"1,1\"/><input><port id=\"0\"/></input><output>" +
           port(3, {1, 4, 8, 8}) + "</output><blobs><weights offset=\"0\" size=\"" + size +
           "\"/><biases offset=\"144\" size=\"8\"/></blobs></layer>";
  };
  const Graph graph = read_model_text(net(layers("144"), edge(0, 0, 1, 0), "6"), "m.xml");
  ASSERT_EQ(graph.parameters.size(), 2u);
  EXPECT_EQ(graph.parameters[0].shape.str(), "4x2x3x3");
  EXPECT_EQ(graph.parameters[1].shape.str(), "4");
  // 4 x 8 x 8 outputs of 2 x 3 x 3 multiply-adds and one addition.
  EXPECT_EQ(statistics(graph).flops, 256 * (2 * 18 + 1));
  EXPECT_THAT(refusal_of(net(layers("146"), edge(0, 0, 1, 0), "6"), "m.xml"),
              HasSubstr("layer 'c': its 'weights' have 146 bytes, which do not fill the shape 4x2x3x3 of f16"));
  std::string texts = layers("144");
  texts.replace(texts.rfind("FP16"), 4, "STRING");
  EXPECT_THAT(refusal_of(net(texts, edge(0, 0, 1, 0), "6"), "m.xml"),
              HasSubstr("layer 'c': its 'weights' have the element type text, whose elements have no fixed size"));
}

// OpenVINO writes one byte for a constant without elements (the shape of a scalar).
TEST(OpenVinoReader, ReadsAConstantWithoutElements) {
  const auto empty = [](const char* size) {
    return net(
        input(1) +
            "<layer id=\"1\" name=\"e\" type=\"Const\"><data element_type=\"i32\" shape=\"0\" offset=\"0\" size=\"" +
            size + "\"/><output>" + port(0, {0}) + "</output></layer>",
        "");
  };
  EXPECT_EQ(read_model_text(empty("1"), "m.xml").parameters[0].bytes(), 0);
  EXPECT_THAT(refusal_of(empty("2"), "m.xml"), HasSubstr("layer 'e': claims 2 bytes of data for the shape 0 of 'i32'"));
}

TEST(OpenVinoReader, ALayerWithABodyHoldsTheWeightsInside) {
  const std::string loop =
      "<layer id=\"1\" name=\"t\" type=\"TensorIterator\"><input><port id=\"0\"/></input><output>" + port(1, {1}) +
      "</output><body><layers>" + weight() + "</layers></body></layer>";
  ::testing::internal::CaptureStderr();
  const Graph graph = read_model_text(net(input(1) + loop, edge(0, 0, 1, 0)), "m.xml");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("1 layers have bodies (If, Loop, TensorIterator); each is costed as one op"));
  EXPECT_EQ(resident_bytes(graph, OpId{1}), 432);
  EXPECT_EQ(statistics(graph).uncosted_ops.at("TensorIterator"), 1u);
}

TEST(OpenVinoReader, RefusesFilesThatAreNoNets) {
  EXPECT_THAT(refusal_of("", "m.xml"), HasSubstr("is not valid XML"));
  EXPECT_THAT(refusal_of("<html></html>", "m.xml"), HasSubstr("its root is 'html', not <net>"));
  EXPECT_THAT(refusal_of(net("", ""), "m.xml"), HasSubstr("the net has no layers"));
  EXPECT_THAT(refusal_of(net(input(1), "", "99"), "m.xml"), HasSubstr("version '99'; versions 5 to 11"));
  const std::string whole = conv_net(1);
  for (std::size_t length = 0; length + 6 < whole.size(); length += 7)
    EXPECT_NE(refusal_of(whole.substr(0, length), "m.xml"), "read without an error") << length;
}

TEST(OpenVinoReader, RefusesBrokenLayersByName) {
  const auto refusal = [](const std::string& layers, const std::string& some_edges) {
    return refusal_of(net(layers, some_edges), "m.xml");
  };
  EXPECT_THAT(refusal(input(1) + weight("431"), ""),
              HasSubstr("layer 'w': claims 431 bytes of data for the shape 4x3x3x3 of 'f32'"));
  EXPECT_THAT(refusal(input(1) + weight("9223372036854775807"), ""), HasSubstr("layer 'w': claims"));
  EXPECT_THAT(refusal(input(1) + weight("432", "f33"), ""), HasSubstr("unknown element type 'f33'"));
  EXPECT_THAT(refusal(input(1) + input(1), ""), HasSubstr("has the id '0', which layer 'x' has already"));
  EXPECT_THAT(refusal(input(-2), ""), HasSubstr("a dimension is a whole number, or -1 where it is open; found '-2'"));
  EXPECT_THAT(refusal(input(1) + conv(1), edge(0, 0, 7, 0)), HasSubstr("to-layer='7', and no layer has this id"));
  EXPECT_THAT(refusal(input(1) + conv(1), edge(0, 5, 2, 0)), HasSubstr("the layer has no such output port"));
  EXPECT_THAT(refusal(input(1) + conv(1), edge(0, 0, 2, 0) + edge(0, 0, 2, 0)),
              HasSubstr("layer 'c': two edges end at its input port '0'"));
  EXPECT_THAT(refusal(input(1) + conv(1), edge(0, 0, 2, 0)),
              HasSubstr("layer 'c': no edge ends at its input port '1'"));
  EXPECT_THAT(refusal(conv(1), edge(2, 2, 2, 0) + edge(2, 2, 2, 1)), HasSubstr("the graph has a cycle: 'c' -> 'c'"));
  EXPECT_THAT(refusal("<layer name=\"x\" type=\"Parameter\"/>", ""), HasSubstr("layer 'x': has no id"));
  EXPECT_THAT(refusal(input(0), ""), HasSubstr("input 'x' has shape 0x3x8x8, with a dimension of size 0"));
  EXPECT_THAT(refusal(input(std::int64_t{1} << 60), ""), HasSubstr("is larger than 2^62 bytes"));
  std::string twin = weight();
  twin.replace(twin.find("name=\"w\""), 8, "name=\"x\"");
  EXPECT_THAT(refusal(input(1) + twin, ""), HasSubstr("two ops are called 'x'"));
}

// Each entity would be ten of the one before: pugixml does not expand them, and the text is no number.
TEST(OpenVinoReader, AnEntityBombStaysSmall) {
  std::string bomb = "<!DOCTYPE net [<!ENTITY a0 \"1\">";
  for (int i = 1; i < 12; ++i) {
    bomb += "<!ENTITY a" + std::to_string(i) + " \"";
    for (int k = 0; k < 10; ++k) bomb += "&a" + std::to_string(i - 1) + ";";
    bomb += "\">";
  }
  std::string text = conv_net(1);
  const std::size_t dim = text.find("<dim>3</dim>");
  text.replace(dim, 12, "<dim>&a11;</dim>");
  text.insert(text.find("<net"), bomb + "]>");
  EXPECT_THAT(refusal_of(text, "m.xml"), HasSubstr("found '&a11;'"));
}

TEST(OpenVinoReader, DeepNestingAndManyElementsEndInOneError) {
  std::string deep = "<net name=\"m\" version=\"11\"><layers>";
  for (int i = 0; i < 1'000'000; ++i) deep += "<layer>";
  EXPECT_NE(refusal_of(deep, "m.xml"), "read without an error");
  for (int i = 0; i < 1'000'000; ++i) deep += "</layer>";
  EXPECT_THAT(refusal_of(deep + "</layers></net>", "m.xml"), HasSubstr("a layer needs a name and a type"));
  std::string bodies = weight();
  for (int i = 0; i < 30; ++i)
    bodies = "<layer id=\"1\" name=\"t\" type=\"If\"><then_body><layers>" + bodies + "</layers></then_body></layer>";
  EXPECT_THAT(refusal_of(net(bodies, ""), "m.xml"), HasSubstr("its bodies are nested deeper than 16"));
}

// 200 000 ports whose tensors would repeat a layer's name of 60 kB.
TEST(OpenVinoReader, PortsOfALayerWithALongNameAreRefusedBeforeTheyFillTheMemory) {
  std::string ports;
  for (int i = 0; i < 200'000; ++i) ports += "<port id=\"" + std::to_string(i) + "\"/>";
  const std::string layer =
      "<layer id=\"0\" name=\"" + std::string(60'000, 'x') + "\" type=\"Split\"><output>" + ports + "</output></layer>";
  EXPECT_THAT(refusal_of(net(layer, ""), "m.xml"), HasSubstr("is too large"));
}

// softmax(q k^T) v of embedded words, with 64 numbers a word; the file fixes neither the batch nor the length.
std::string attention_net() {
  std::string layers, some_edges;
  int next = 0;
  const auto layer = [&](const std::string& type, const std::string& data, const std::vector<int>& from,
                         const std::vector<std::int64_t>& dims) {
    std::string inputs;
    for (std::size_t i = 0; i < from.size(); ++i) {
      inputs += "<port id=\"" + std::to_string(i) + "\"/>";
      some_edges += edge(from[i], 9, next, static_cast<int>(i));
    }
    layers += "<layer id=\"" + std::to_string(next) + "\" name=\"" + type + std::to_string(next) + "\" type=\"" + type +
              "\"><data " + data + "/>" + (inputs.empty() ? "" : "<input>" + inputs + "</input>") + "<output>" +
              port(9, dims) + "</output></layer>";
    return next++;
  };
  const auto constant = [&](const std::string& shape, const std::vector<std::int64_t>& dims, int size,
                            const std::string& type = "f32") {
    return layer(
        "Const",
        "element_type=\"" + type + "\" shape=\"" + shape + "\" offset=\"0\" size=\"" + std::to_string(size) + "\"", {},
        dims);
  };
  const auto product = [&](int left, int right, bool transposed, const std::vector<std::int64_t>& dims) {
    return layer("MatMul", std::string("transpose_a=\"false\" transpose_b=\"") + (transposed ? "true" : "false") + "\"",
                 {left, right}, dims);
  };
  const int words = layer("Parameter", "shape=\"?,?\" element_type=\"i64\"", {}, {-1, -1});
  const int table = constant("100, 64", {100, 64}, 100 * 64 * 4), axis = constant("", {}, 8, "i64");
  const int x = layer("Gather", "batch_dims=\"0\"", {table, words, axis}, {-1, -1, 64});
  std::vector<int> projected;
  for (int i = 0; i < 3; ++i)
    projected.push_back(product(x, constant("64, 64", {64, 64}, 64 * 64 * 4), false, {-1, -1, 64}));
  const int scores = product(projected[0], projected[1], true, {-1, -1, -1});
  product(layer("SoftMax", "axis=\"-1\"", {scores}, {-1, -1, -1}), projected[2], false, {-1, -1, 64});
  return net(layers, some_edges);
}

TEST(OpenVinoReader, CostsAttentionOnceItsInputsAreFixed) {
  const ReadOptions options{.shapes = {{"Parameter0", {2, 16}}}, .batch = {}};
  const GraphStatistics open = statistics(read_model_text(attention_net(), "m.xml"));
  EXPECT_EQ(open.static_tensors, 5U);  // the constants
  const GraphStatistics counts = statistics(read_model_text(attention_net(), "m.xml", options));
  EXPECT_EQ(counts.static_tensors, counts.tensors);
  // 2 x 16 words x (3 x 64^2 weights + 2 x 16 x 64 of attention) multiply-adds; the softmax is 0.3 % more.
  EXPECT_NEAR(counts.flops / (2.0 * 2 * 16 * (3 * 64 * 64 + 2 * 16 * 64)), 1, 0.02);
}

TEST(OpenVinoReader, CostsARealTransformerOnceItsInputsAreFixed) {
  const std::string model = test::outside_file("models/openvino-ir/roberta_base_cola.xml");
  REQUIRE_OUTSIDE_FILE(model);
  const ReadOptions options{.shapes = {{"input_ids", {1, 128}}, {"attention_mask", {1, 128}}}, .batch = {}};
  const GraphStatistics counts = statistics(read_graph(model, options));
  // 12 layers x (4 x 768^2 + 2 x 768 x 3072 weights, 2 x 128 x 768 of attention) x 128 tokens: 11.2 G multiply-adds.
  const double products = 12.0 * 128 * (4 * 768 * 768 + 2 * 768 * 3072 + 2 * 128 * 768);
  EXPECT_NEAR(counts.flops / (2 * products), 1, 0.02);
  EXPECT_GE(counts.static_tensors, 785u);  // of 795
}

// Queries of 2 x 8 x ? x 64, keys of 2 x 8 x 20 x 64 and values of 2 x 8 x 20 x 32, with 10 queries.
TEST(OpenVinoReader, SizesAndCostsAttention) {
  const auto parameter = [](int id, const std::string& name, const std::vector<std::int64_t>& sizes) {
    std::string shape;
    for (const std::int64_t size : sizes) shape += (shape.empty() ? "" : ",") + (size < 0 ? "?" : std::to_string(size));
    return "<layer id=\"" + std::to_string(id) + "\" name=\"" + name + "\" type=\"Parameter\"><data shape=\"" + shape +
           "\" element_type=\"f32\"/><output>" + port(0, sizes) + "</output></layer>";
  };
  const std::string attention =
      "<layer id=\"3\" name=\"a\" type=\"ScaledDotProductAttention\"><data causal=\"false\"/><input><port id=\"0\"/>"
      "<port id=\"1\"/><port id=\"2\"/></input><output>" +
      port(3, {2, 8, -1, 32}) + "</output></layer>";
  const std::string text = net(parameter(0, "q", {2, 8, -1, 64}) + parameter(1, "k", {2, 8, 20, 64}) +
                                   parameter(2, "v", {2, 8, 20, 32}) + attention,
                               edge(0, 0, 3, 0) + edge(1, 0, 3, 1) + edge(2, 0, 3, 2));
  const Graph graph = read_model_text(text, "m.xml", {.shapes = {{"q", {2, 8, 10, 64}}}, .batch = {}});
  EXPECT_EQ(tensor_named(graph, "a:0").shape.str(), "2x8x10x32");
  EXPECT_TRUE(statistics(graph).uncosted_ops.empty());
  EXPECT_EQ(statistics(graph).flops, 2 * 8 * 10 * 20 * (2 * 64 + 2 * 32 + 5));
}

// An input of 2 x ? x 6, of which Gather takes one position of axis 1, as BERT's pooler does.
class OpenVinoConstants : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto scalar = [](int id, const std::string& name, int offset) {
      return "<layer id=\"" + std::to_string(id) + "\" name=\"" + name +
             "\" type=\"Const\"><data element_type=\"i64\" shape=\"\" offset=\"" + std::to_string(offset) +
             "\" size=\"8\"/><output><port id=\"0\" precision=\"I64\"/></output></layer>";
    };
    const std::string layers =
        "<layer id=\"0\" name=\"x\" type=\"Parameter\"><data shape=\"?,?,6\" element_type=\"f32\"/><output>" +
        port(0, {-1, -1, 6}) + "</output></layer>" + scalar(1, "position", 8) + scalar(2, "axis", 16) +
        "<layer id=\"3\" name=\"g\" type=\"Gather\"><data batch_dims=\"0\"/><input><port id=\"0\"/><port "
        "id=\"1\"/><port "
        "id=\"2\"/></input><output>" +
        port(3, {-1, 6}) + "</output></layer>";
    std::ofstream(folder_ / "m.xml") << net(layers, edge(0, 0, 3, 0) + edge(1, 0, 3, 1) + edge(2, 0, 3, 2));
  }
  void write_weights(std::size_t bytes = 24) const {
    std::string text(24, '\0');
    text[16] = 1;  // the axis
    std::ofstream(folder_ / "m.bin", std::ios::binary) << text.substr(0, bytes);
  }
  [[nodiscard]] std::string gathered() const {
    const Graph graph = read_graph(folder_ / "m.xml", {.shapes = {{"x", {2, 5, 6}}}, .batch = {}});
    return tensor_named(graph, "g:0").shape.str();
  }
  test::TemporaryFolder folder_;
};

TEST_F(OpenVinoConstants, BesideTheModelGiveTheAxisOfAGather) {
  write_weights();
  EXPECT_EQ(gathered(), "2x6");
}

TEST_F(OpenVinoConstants, MayBeMissingOrAPointerFile) {
  EXPECT_EQ(gathered(), "?x6");
  write_weights(20);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(gathered(), "?x6");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("m.bin: ends before the constant 'axis'"));
}

TEST(OpenVinoReader, LaunchesALstmSequenceOnceForEachOfItsStepsNotOfItsSamples) {
  std::string layers, edges;
  const std::vector<std::vector<std::int64_t>> inputs = {{2, 7, 5},  {2, 1, 4},  {2, 1, 4}, {2},
                                                         {1, 16, 5}, {1, 16, 4}, {1, 16}};
  std::string ports;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int id = static_cast<int>(i);
    layers += "<layer id=\"" + std::to_string(i) + "\" name=\"i" + std::to_string(i) +
              "\" type=\"Parameter\"><data element_type=\"f32\"/><output>" + port(0, inputs[i]) + "</output></layer>";
    ports += "<port id=\"" + std::to_string(i) + "\"/>";
    edges += edge(id, 0, 7, id);
  }
  layers +=
      "<layer id=\"7\" name=\"lstm\" type=\"LSTMSequence\"><data hidden_size=\"4\" direction=\"forward\"/><input>" +
      ports + "</input><output>" + port(7, {2, 1, 7, 4}) + "</output></layer>";
  const Graph graph = read_model_text(net(layers, edges), "m.xml");
  EXPECT_EQ(cost_of(graph, OpId{7}).launches, 7);
}

}  // namespace
}  // namespace emplace::formats::openvino_test
