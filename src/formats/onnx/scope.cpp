#include "formats/onnx/scope.hpp"

#include <algorithm>

namespace emplace::formats {

OnnxOpsets opsets_of(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  OnnxOpsets opsets;
  for (const auto& import : imports)
    opsets[import.domain() == "ai.onnx" ? "" : import.domain()] =
        static_cast<int>(std::clamp<std::int64_t>(import.version(), 0, 1'000'000));
  return opsets;
}

onnx::TypeProto& OnnxScope::type(const std::string& name) {
  onnx::TypeProto*& type = types[name];
  if (type == nullptr) type = &own_types.emplace_back();
  return *type;
}

void OnnxScope::add_types(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& infos) {
  for (const auto& info : infos)
    if (info.has_type() && !info.name().empty() && !types.contains(info.name())) type(info.name()) = info.type();
}

void OnnxScope::add_initializers(const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializer()) {
    data[tensor.name()] = &tensor;
    if (types.contains(tensor.name())) continue;  // the type of an input of this name takes precedence
    auto& tensor_type = *type(tensor.name()).mutable_tensor_type();
    tensor_type.set_elem_type(tensor.data_type());
    tensor_type.mutable_shape();
    for (const std::int64_t size : tensor.dims()) tensor_type.mutable_shape()->add_dim()->set_dim_value(size);
  }
  for (const auto& tensor : graph.sparse_initializer()) {
    const std::string& name = tensor.values().name();
    sparse_data[name] = &tensor;
    if (types.contains(name)) continue;
    auto& tensor_type = *type(name).mutable_sparse_tensor_type();
    tensor_type.set_elem_type(tensor.values().data_type());
    for (const std::int64_t size : tensor.dims()) tensor_type.mutable_shape()->add_dim()->set_dim_value(size);
  }
}

void OnnxScope::add_constant(const onnx::NodeProto& node) {
  if (node.op_type() != "Constant" || !(node.domain().empty() || node.domain() == "ai.onnx") || node.output_size() != 1)
    return;
  const std::string& name = node.output(0);
  const auto new_tensor = [&](int element_type, bool is_vector, int count) -> onnx::TensorProto& {
    onnx::TensorProto& tensor = own_data.emplace_back();
    tensor.set_data_type(element_type);
    if (is_vector) tensor.add_dims(count);
    data[name] = &tensor;
    return tensor;
  };
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "value" && attribute.has_t())
      data[name] = &attribute.t();
    else if (attribute.name() == "sparse_value" && attribute.has_sparse_tensor())
      sparse_data[name] = &attribute.sparse_tensor();
    else if (attribute.name() == "value_int")
      new_tensor(onnx::TensorProto::INT64, false, 1).add_int64_data(attribute.i());
    else if (attribute.name() == "value_ints")
      *new_tensor(onnx::TensorProto::INT64, true, attribute.ints_size()).mutable_int64_data() = attribute.ints();
    else if (attribute.name() == "value_float")
      new_tensor(onnx::TensorProto::FLOAT, false, 1).add_float_data(attribute.f());
    else if (attribute.name() == "value_floats")
      *new_tensor(onnx::TensorProto::FLOAT, true, attribute.floats_size()).mutable_float_data() = attribute.floats();
  }
}

}  // namespace emplace::formats
