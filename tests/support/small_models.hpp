// A small model file in each format, written by hand, and what a reader must count in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/formats/proto_bytes.hpp"

namespace emplace::test {

// Writes the fields of onnx.proto.
class OnnxText {
 public:
  // A batch of 0 stays open, as the symbol N.
  void input(const std::string& name, std::int64_t batch, const std::vector<std::int64_t>& sizes) {
    std::string shape = proto::field(1, batch > 0 ? proto::field(1, batch) : proto::field(2, "N"));
    for (const std::int64_t size : sizes) shape += proto::field(1, proto::field(1, size));
    inputs_ += proto::field(11, value(name, proto::field(2, shape)));
  }
  void output(const std::string& name) { outputs_ += proto::field(12, value(name, "")); }

  // The node's output is called NAME:0.
  void node(const std::string& type, const std::string& name, const std::vector<std::string>& from,
            const std::string& attributes = "") {
    std::string text;
    for (const std::string& input : from) text += proto::field(1, input);
    nodes_ += proto::field(
        1, text + proto::field(2, name + ":0") + proto::field(3, name) + proto::field(4, type) + attributes);
  }
  void weights(const std::string& name, std::int64_t count) {
    initializers_ += proto::field(5, proto::field(1, count) + proto::field(2, of_floats) + proto::field(8, name) +
                                         proto::field(9, std::string(static_cast<std::size_t>(4 * count), '\0')));
  }
  void numbers(const std::string& name, const std::vector<std::int64_t>& values) {
    std::string text = proto::field(1, static_cast<std::int64_t>(values.size())) + proto::field(2, of_int64);
    for (const std::int64_t value : values) text += proto::field(7, value);
    initializers_ += proto::field(5, text + proto::field(8, name));
  }

  static std::string integer(const std::string& name, std::int64_t number) {
    return proto::field(5, proto::field(1, name) + proto::field(3, number) + proto::field(20, 2));
  }
  static std::string integers(const std::string& name, const std::vector<std::int64_t>& numbers) {
    std::string text = proto::field(1, name);
    for (const std::int64_t number : numbers) text += proto::field(8, number);
    return proto::field(5, text + proto::field(20, 7));
  }

  [[nodiscard]] std::string model() const {
    const std::string graph = nodes_ + proto::field(2, "network") + initializers_ + inputs_ + outputs_;
    return proto::field(1, 4) + proto::field(7, graph) + proto::field(8, proto::field(2, 9));
  }

 private:
  static constexpr int of_floats = 1, of_int64 = 7;
  static std::string value(const std::string& name, const std::string& shape) {
    return proto::field(1, name) + proto::field(2, proto::field(1, proto::field(1, of_floats) + shape));
  }

  std::string nodes_, initializers_, inputs_, outputs_;
};

// A SqueezeNet (Iandola et al. 2016) with two fire modules or more for images of 3 x 32 x 32 and ten classes. As in the
// ONNX project's light models, a ConstantOfShape makes each filter; the biases are in the file. It runs in ONNX
// Runtime.
inline std::string small_network(std::int64_t batch = 1, int fire_modules = 2) {
  OnnxText onnx;
  onnx.input("x", batch, {3, 32, 32});
  const auto conv = [&](const std::string& name, const std::string& from, std::int64_t in, std::int64_t out,
                        std::int64_t kernel) {
    onnx.numbers(name + "/shape", {out, in, kernel, kernel});
    onnx.weights(name + "/bias", out);
    onnx.node("ConstantOfShape", name + "/filter", {name + "/shape"});
    onnx.node("Conv", name, {from, name + "/filter:0", name + "/bias"},
              OnnxText::integers("kernel_shape", {kernel, kernel}) +
                  OnnxText::integers("pads", std::vector<std::int64_t>(4, kernel / 2)));
    onnx.node("Relu", name + "/relu", {name + ":0"});
    return name + "/relu:0";
  };
  const auto fire = [&](const std::string& name, const std::string& from, std::int64_t in) {
    const std::string squeezed = conv(name + "/squeeze", from, in, 8, 1);
    const std::string narrow = conv(name + "/1x1", squeezed, 8, 16, 1), wide = conv(name + "/3x3", squeezed, 8, 16, 3);
    onnx.node("Concat", name + "/concat", {narrow, wide}, OnnxText::integer("axis", 1));
    return name + "/concat:0";
  };
  onnx.node("MaxPool", "pool1", {conv("conv1", "x", 3, 16, 3)},
            OnnxText::integers("kernel_shape", {2, 2}) + OnnxText::integers("strides", {2, 2}));
  std::string last = fire("fire1", "pool1:0", 16);
  for (int i = 2; i <= fire_modules; ++i) last = fire("fire" + std::to_string(i), last, 32);
  onnx.node("Dropout", "dropout", {last});
  onnx.node("GlobalAveragePool", "pool10", {conv("conv10", "dropout:0", 32, 10, 1)});
  onnx.node("Softmax", "softmax", {"pool10:0"});
  onnx.output("softmax:0");
  return onnx.model();
}
// With two fire modules. 8 of its 30 nodes make filters and 1 is a Dropout: these 9 are folded away before placing.
struct SmallNetwork {
  static constexpr std::size_t nodes = 30, filters = 8, initializers = 16, folded = 9, ops = 21;
  // conv1 -> relu -> pool1 -> squeeze, 7 in each fire module, 1 between them, 5 from their end to softmax; and 8
  // filters.
  static constexpr std::size_t edges = 3 + 7 + 1 + 7 + 5 + 8;
  // 3 x 3 x 3 x 16 + 16; (16 + 32) x 8 + 2 x 8; 2 x (8 x 16 + 16); 2 x (9 x 8 x 16 + 16); 32 x 10 + 10.
  static constexpr std::int64_t parameters = 448 + 400 + 288 + 2336 + 330;
  // 32 x 32 x 16 x 27; 16 x 16 x 8 x (16 + 32); 2 x 16 x 16 x 16 x 8 x (1 + 9); 16 x 16 x 10 x 32.
  static constexpr double multiply_adds = 442368 + 98304 + 655360 + 81920;
};

// x (1 x 3 x 8 x 8) -> Convolution with the constant w (4 x 3 x 3 x 3) -> ReLU -> Result. 5 layers, 4 edges, 4 outputs.
inline std::string small_openvino() {
  const auto port = [](int id, const std::vector<int>& sizes) {
    std::string text = "<port id=\"" + std::to_string(id) + "\" precision=\"FP32\">";
    for (const int size : sizes) text += "<dim>" + std::to_string(size) + "</dim>";
    return text + "</port>";
  };
  const auto layer = [](int id, const std::string& name, const std::string& type, const std::string& data,
                        const std::string& inputs, const std::string& outputs) {
    return "<layer id=\"" + std::to_string(id) + "\" name=\"" + name + "\" type=\"" + type + "\" version=\"opset1\">" +
           (data.empty() ? "" : "<data " + data + "/>") + (inputs.empty() ? "" : "<input>" + inputs + "</input>") +
           (outputs.empty() ? "" : "<output>" + outputs + "</output>") + "</layer>\n";
  };
  const std::vector<int> image = {1, 3, 8, 8}, filter = {4, 3, 3, 3}, result = {1, 4, 6, 6};
  return "<?xml version=\"1.0\"?>\n<net name=\"small\" version=\"11\">\n<layers>\n" +
         layer(0, "x", "Parameter", R"(shape="1,3,8,8" element_type="f32")", "", port(0, image)) +
         layer(1, "w", "Const", R"(element_type="f32" shape="4, 3, 3, 3" offset="0" size="432")", "", port(0, filter)) +
         layer(2, "c", "Convolution",
               R"(strides="1, 1" dilations="1, 1" pads_begin="0, 0" pads_end="0, 0" auto_pad="explicit")",
               port(0, image) + port(1, filter), port(2, result)) +
         layer(3, "r", "ReLU", "", port(0, result), port(1, result)) +
         layer(4, "y", "Result", "", port(0, result), "") + "</layers>\n<edges>\n" +
         R"(<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>)" +
         R"(<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>)" +
         R"(<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>)" +
         R"(<edge from-layer="3" from-port="1" to-layer="4" to-port="0"/>)" + "\n</edges>\n</net>\n";
}

// A loop that multiplies a 2 x 4 state by w, as TensorFlow writes it: 9 nodes and 11 outputs, of which the last has no
// known shape; 10 edges, one of them a control edge. NextIteration -> Merge closes a cycle.
inline std::string small_graphdef() {
  const auto attribute = [](const std::string& key, const std::string& value) {
    return "  attr { key: \"" + key + "\" value { " + value + " } }\n";
  };
  const auto sizes_of = [](const std::vector<int>& sizes) {
    std::string text;
    for (const int size : sizes) text += "dim { size: " + std::to_string(size) + " } ";
    return "{ " + text + "}";
  };
  const std::string state = sizes_of({2, 4}), filter = sizes_of({4, 4}), scalar = "{ }";
  const auto node = [&](const std::string& name, const std::string& type, const std::vector<std::string>& from,
                        const std::vector<std::string>& shapes, const std::string& attributes) {
    std::string text = "node {\n  name: \"" + name + "\"\n  op: \"" + type + "\"\n", list;
    for (const std::string& input : from) text += "  input: \"" + input + "\"\n";
    for (const std::string& shape : shapes) list += "shape " + shape + " ";
    return text + attributes + attribute("_output_shapes", "list { " + list + "}") + "}\n";
  };
  const std::string type = attribute("T", "type: DT_FLOAT"), f32 = attribute("dtype", "type: DT_FLOAT");
  return node("state", "Placeholder", {}, {state}, f32 + attribute("shape", "shape " + state)) +
         node("going", "Placeholder", {}, {scalar}, attribute("dtype", "type: DT_BOOL")) +
         node("w", "Const", {}, {filter},
              f32 + attribute("value", "tensor { dtype: DT_FLOAT tensor_shape " + filter + " float_val: 1 }")) +
         node("enter", "Enter", {"state"}, {state}, type) +
         node("merge", "Merge", {"enter", "next"}, {state, scalar}, type) +
         node("switch", "Switch", {"merge", "going"}, {state, state}, type) +
         node("product", "MatMul", {"switch:1", "w", "^enter"}, {state}, type) +
         node("next", "NextIteration", {"product"}, {state}, type) +
         node("exit", "Exit", {"switch"}, {"{ unknown_rank: true }"}, type);
}

// x (1 x 8 x 8 x 3) -> Conv2D with the constant w (3 x 3 x 3 x 4) -> Relu: 4 nodes, 3 edges.
inline std::string small_tfjs() {
  return R"({"format": "graph-model", "modelTopology": {"node": [
{"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"},
 "shape": {"shape": {"dim": [{"size": "1"}, {"size": "8"}, {"size": "8"}, {"size": "3"}]}}}},
{"name": "w", "op": "Const", "attr": {"dtype": {"type": "DT_FLOAT"}}},
{"name": "c", "op": "Conv2D", "input": ["x", "w"], "attr": {"T": {"type": "DT_FLOAT"}, "padding": {"s": "VkFMSUQ="},
 "strides": {"list": {"i": ["1", "1", "1", "1"]}}, "data_format": {"s": "TkhXQw=="}}},
{"name": "r", "op": "Relu", "input": ["c"], "attr": {"T": {"type": "DT_FLOAT"}}}]},
"weightsManifest": [{"paths": ["shard"], "weights": [{"name": "w", "shape": [3, 3, 3, 4], "dtype": "float32"}]}]})";
}

}  // namespace emplace::test
