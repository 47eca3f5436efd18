// Small ONNX models for tests, written to a file that disappears with the test.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::formats {

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content, const std::string& ending = ".onnx")
      : path_(folder_ / ("model" + ending)) {
    write_file(path_, content);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  test::TemporaryFolder folder_;
  std::string path_;
};

// A size, or a symbol as in {"N", 3, 8, 8}.
struct Dim {
  Dim(int s) : size(s) {}            // NOLINT(google-explicit-constructor): lists of them read well
  Dim(const char* s) : symbol(s) {}  // NOLINT(google-explicit-constructor)
  std::int64_t size = 0;
  std::string symbol;
};

inline void set_type(onnx::ValueInfoProto& value, const std::string& name, const std::vector<Dim>& dims,
                     int element_type = onnx::TensorProto::FLOAT) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(element_type);
  tensor.mutable_shape();
  for (const Dim& dim : dims) {
    auto& added = *tensor.mutable_shape()->add_dim();
    if (!dim.symbol.empty())
      added.set_dim_param(dim.symbol);
    else
      added.set_dim_value(dim.size);
  }
}

inline onnx::NodeProto make_node(const std::string& type, const std::string& name,
                                 const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  onnx::NodeProto node;
  node.set_op_type(type);
  node.set_name(name);
  for (const auto& input : inputs) node.add_input(input);
  for (const auto& output : outputs) node.add_output(output);
  return node;
}

inline onnx::AttributeProto& add_attribute(onnx::NodeProto& node, const std::string& name,
                                           onnx::AttributeProto::AttributeType type) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

inline onnx::TensorProto make_tensor(const std::string& name, const std::vector<std::int64_t>& dims,
                                     int element_type = onnx::TensorProto::FLOAT) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(element_type);
  for (const auto dim : dims) tensor.add_dims(dim);
  return tensor;
}

inline onnx::TensorProto make_vector(const std::string& name, const std::vector<std::int64_t>& values) {
  onnx::TensorProto tensor = make_tensor(name, {static_cast<std::int64_t>(values.size())}, onnx::TensorProto::INT64);
  for (const auto value : values) tensor.add_int64_data(value);
  return tensor;
}

inline onnx::ModelProto empty_model(int opset = 13) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.mutable_graph()->set_name("test");
  model.add_opset_import()->set_version(opset);
  return model;
}

// x (N x 3 x 8 x 8) -> Conv(w 4 x 3 x 3 x 3, b 4) -> Relu -> y
inline onnx::ModelProto conv_model(const std::vector<Dim>& input = {"N", 3, 8, 8}) {
  onnx::ModelProto model = empty_model();
  auto& graph = *model.mutable_graph();
  set_type(*graph.add_input(), "x", input);
  *graph.add_initializer() = make_tensor("w", {4, 3, 3, 3});
  *graph.add_initializer() = make_tensor("b", {4});
  *graph.add_node() = make_node("Conv", "conv", {"x", "w", "b"}, {"c"});
  auto& kernel = add_attribute(*graph.mutable_node(0), "kernel_shape", onnx::AttributeProto::INTS);
  kernel.add_ints(3);
  kernel.add_ints(3);
  *graph.add_node() = make_node("Relu", "relu", {"c"}, {"y"});
  graph.add_output()->set_name("y");
  return model;
}

}  // namespace emplace::formats
