#include "formats/onnx/fold/fold.hpp"

#include <algorithm>
#include <deque>

namespace emplace::formats {

namespace {

constexpr std::size_t most_data_elements = 4096;  // given to libonnx; no shape is longer

FoldRule rule_of(const onnx::NodeProto& node) {
  if (!node.domain().empty() && node.domain() != "ai.onnx") return nullptr;
  for (const FoldRules* rules :
       {&elementwise_rules(), &creation_rules(), &movement_rules(), &index_rules(), &reduction_rules()})
    if (const auto found = rules->find(node.op_type()); found != rules->end()) return found->second;
  return nullptr;
}

bool reads_shapes_only(const onnx::NodeProto& node) { return node.op_type() == "Shape" || node.op_type() == "Size"; }

// The elements that ScatterND and ScatterElements write may be unknown; of other types every input is needed.
bool is_needed(const onnx::NodeProto& node, int input) { return input < 2 || !node.op_type().starts_with("Scatter"); }

const onnx::TypeProto* stored_type(const OnnxScope& scope, const std::string& name) {
  const auto found = scope.types.find(name);
  return found == scope.types.end() ? nullptr : found->second;
}

// A short vector of whole numbers whose elements are not known: others may be joined to it.
std::optional<FoldedTensor> unknown_vector(const onnx::TypeProto* type) {
  constexpr std::int64_t longest = 64;
  if (type == nullptr || !type->has_tensor_type() || !type->tensor_type().has_shape()) return std::nullopt;
  const auto& shape = type->tensor_type().shape();
  const std::int32_t element = type->tensor_type().elem_type();
  if (shape.dim_size() > 1 || !is_folded_type(element) || is_real_type(element)) return std::nullopt;
  FoldedDims dims;
  for (const auto& dimension : shape.dim()) {
    if (!dimension.has_dim_value() || dimension.dim_value() > longest) return std::nullopt;
    dims.push_back(dimension.dim_value());
  }
  return unknown_tensor(element, std::move(dims));
}

// Completes the sizes of `shape`; false if they contradict `dims`.
bool complete_shape(onnx::TensorShapeProto& shape, const FoldedDims& dims) {
  if (static_cast<std::size_t>(shape.dim_size()) != dims.size()) return false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto& known = shape.dim(static_cast<int>(i));
    if (known.has_dim_value() && known.dim_value() != dims[i]) return false;
  }
  for (std::size_t i = 0; i < dims.size(); ++i) shape.mutable_dim(static_cast<int>(i))->set_dim_value(dims[i]);
  return true;
}

// The shape of a published value becomes that of the tensor; false if they differ.
bool agree_on_shape(onnx::TypeProto& type, const FoldedTensor& value) {
  if (type.value_case() != onnx::TypeProto::VALUE_NOT_SET && !type.has_tensor_type()) return false;
  auto& tensor = *type.mutable_tensor_type();
  if (tensor.elem_type() != onnx::TensorProto::UNDEFINED && tensor.elem_type() != value.type) return false;
  const bool had_shape = tensor.has_shape();
  auto& shape = *tensor.mutable_shape();
  if (!had_shape)
    for (std::size_t i = 0; i < value.dims.size(); ++i) shape.add_dim();
  if (!complete_shape(shape, value.dims)) return false;
  tensor.set_elem_type(value.type);
  return true;
}

// Vectors that are known in part go to libonnx as a list of sizes, some of them open.
void publish_partly_known(OnnxScope& scope, const std::string& name, const FoldedTensor& value) {
  if (value.is_real() || value.dims.size() > 1) return;
  onnx::TensorShapeProto& sizes = scope.values[name];
  if (static_cast<std::size_t>(sizes.dim_size()) != value.elements.size()) {
    sizes.clear_dim();
    for (std::size_t i = 0; i < value.elements.size(); ++i) sizes.add_dim();
  }
  for (std::size_t i = 0; i < value.elements.size(); ++i)
    if (value.elements[i].known) sizes.mutable_dim(static_cast<int>(i))->set_dim_value(value.elements[i].whole);
}

}  // namespace

void OnnxFolder::fold(const onnx::NodeProto& node, OnnxScope& scope) {
  const FoldRule rule = rule_of(node);
  if (rule == nullptr) return;
  std::vector<OnnxValue> values(static_cast<std::size_t>(node.input_size()));
  std::vector<const FoldedTensor*> inputs(values.size());
  std::vector<const onnx::TypeProto*> types(values.size());
  std::deque<FoldedTensor> unknown;
  for (int i = 0; i < node.input_size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::string& name = node.input(i);
    if (name.empty()) continue;
    types[at] = stored_type(scope, name);
    if (reads_shapes_only(node)) break;
    values[at] = value(scope, name);
    inputs[at] = values[at].get();
    if (inputs[at] != nullptr) continue;
    if (auto open = unknown_vector(types[at])) inputs[at] = &unknown.emplace_back(std::move(*open));
    if (inputs[at] == nullptr && is_needed(node, i)) return;
  }
  FoldedOutputs outputs = rule(FoldCall(node, std::move(inputs), std::move(types), budget_));
  for (std::size_t i = 0; i < outputs.size() && static_cast<int>(i) < node.output_size(); ++i)
    if (const std::string& name = node.output(static_cast<int>(i)); !name.empty())
      publish(scope, name, std::make_shared<const FoldedTensor>(std::move(outputs[i])));
}

void OnnxFolder::publish(OnnxScope& scope, const std::string& name, OnnxValue value) {
  if (value == nullptr || (!value->has_known() && !value->elements.empty())) return;
  if (!budget_.spend_stored(value->elements.size() + 1) || !agree_on_shape(scope.type(name), *value)) return;
  if (!value->is_known())
    publish_partly_known(scope, name, *value);
  else if (value->elements.size() <= most_data_elements)
    scope.data[name] = &scope.own_data.emplace_back(proto_of(*value));
  scope.folded[name] = std::move(value);
}

OnnxValue OnnxFolder::value(OnnxScope& scope, const std::string& name) {
  if (const auto found = scope.folded.find(name); found != scope.folded.end()) return found->second;
  const auto data = scope.data.find(name);
  if (data == scope.data.end()) return nullptr;
  auto read = folded_of(*data->second);
  if (!read || !budget_.spend_steps(read->elements.size()) || !budget_.spend_stored(read->elements.size() + 1))
    return nullptr;
  return scope.folded[name] = std::make_shared<const FoldedTensor>(std::move(*read));
}

}  // namespace emplace::formats
