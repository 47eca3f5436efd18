// Writes small ONNX graphs node by node and reads them, for tests of shape inference.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "emplace/formats/reader.hpp"
#include "tests/formats/onnx_builder.hpp"

namespace emplace::formats {

class OnnxNetwork {
 public:
  explicit OnnxNetwork(int opset = 13) : model(empty_model(opset)) {}

  std::string input(const std::string& name, const std::vector<Dim>& dims,
                    int element_type = onnx::TensorProto::FLOAT) {
    set_type(*graph().add_input(), name, dims, element_type);
    return name;
  }
  std::string weight(const std::vector<std::int64_t>& dims) {
    *graph().add_initializer() = make_tensor(new_name("weight"), dims);
    return last_;
  }
  std::string vector(const std::vector<std::int64_t>& values) {
    *graph().add_initializer() = make_vector(new_name("vector"), values);
    return last_;
  }
  std::string scalar(std::int64_t value) {
    onnx::TensorProto tensor = make_tensor(new_name("scalar"), {}, onnx::TensorProto::INT64);
    tensor.add_int64_data(value);
    *graph().add_initializer() = tensor;
    return last_;
  }
  std::string boolean(bool value) {
    onnx::TensorProto tensor = make_tensor(new_name("boolean"), {}, onnx::TensorProto::BOOL);
    tensor.add_int32_data(value ? 1 : 0);
    *graph().add_initializer() = tensor;
    return last_;
  }
  std::string real(float value) {
    onnx::TensorProto tensor = make_tensor(new_name("real"), {}, onnx::TensorProto::FLOAT);
    tensor.add_float_data(value);
    *graph().add_initializer() = tensor;
    return last_;
  }

  // Adds a node with one output, which has the name that is returned.
  std::string node(const std::string& type, const std::vector<std::string>& inputs) {
    *graph().add_node() = make_node(type, "", inputs, {new_name(type)});
    return last_;
  }
  onnx::NodeProto& last_node() { return *graph().mutable_node(graph().node_size() - 1); }
  std::string with(const std::string& attribute, std::int64_t value) {
    add_attribute(last_node(), attribute, onnx::AttributeProto::INT).set_i(value);
    return last_node().output(0);
  }
  std::string with(const std::string& attribute, const std::vector<std::int64_t>& values) {
    auto& added = add_attribute(last_node(), attribute, onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) added.add_ints(value);
    return last_node().output(0);
  }

  onnx::GraphProto& graph() { return *model.mutable_graph(); }

  onnx::ModelProto model;

 private:
  const std::string& new_name(const std::string& of) { return last_ = of + std::to_string(count_++); }

  int count_ = 0;
  std::string last_;
};

inline Graph read(const onnx::ModelProto& model, const ReadOptions& options = {}) {
  const TemporaryFile file(model.SerializeAsString());
  return read_graph(file.path(), options);
}

inline std::string shape_of(const Graph& graph, const std::string& tensor) {
  for (const GraphTensor& t : graph.tensors)
    if (t.name == tensor) return t.shape.str();
  return "no such tensor";
}

}  // namespace emplace::formats
