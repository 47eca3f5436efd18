#include "formats/onnx/upper_bounds.hpp"

#include <algorithm>
#include <optional>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

namespace {

using Sizes = onnx::TensorShapeProto;

const Sizes* sizes_of(const OnnxScope& scope, const std::string& name) {
  const auto type = scope.types.find(name);
  return type == scope.types.end() || !type->second->tensor_type().has_shape() ? nullptr
                                                                               : &type->second->tensor_type().shape();
}

// The product of the sizes; nullopt if one is not known or the product is not from 1 to 2^62.
std::optional<std::int64_t> bound_of(std::initializer_list<std::int64_t> sizes) {
  const Shape shape(sizes);
  const auto elements = shape.elements();
  return elements && *elements > 0 ? elements : std::nullopt;
}
std::int64_t size_at(const Sizes& shape, int axis) {
  return shape.dim(axis).has_dim_value() ? shape.dim(axis).dim_value() : Shape::unknown_dimension;
}

std::optional<std::int64_t> most_nonzero(const onnx::NodeProto& node, const OnnxScope& scope) {
  const Sizes* input = sizes_of(scope, node.input(0));
  if (input == nullptr) return std::nullopt;
  Shape shape = Shape::scalar();
  for (int i = 0; i < input->dim_size(); ++i) shape.dims.push_back(size_at(*input, i));
  return shape.elements();
}

// Boxes are batch x boxes x 4, scores batch x classes x boxes.
std::optional<std::int64_t> most_selected(const onnx::NodeProto& node, OnnxScope& scope, OnnxFolder& folder) {
  const Sizes* scores = node.input_size() < 2 ? nullptr : sizes_of(scope, node.input(1));
  if (scores == nullptr || scores->dim_size() != 3) return std::nullopt;
  std::int64_t of_class = size_at(*scores, 2);
  const OnnxValue most = node.input_size() < 3 ? nullptr : folder.value(scope, node.input(2));
  if (most != nullptr && !most->is_real() && most->elements.size() == 1 && most->elements[0].known)
    of_class = std::min(of_class, most->elements[0].whole);
  return bound_of({size_at(*scores, 0), size_at(*scores, 1), of_class});
}

bool set_open(const onnx::NodeProto& node, int output, int axis, std::optional<std::int64_t> size, OnnxScope& scope) {
  if (!size || output >= node.output_size() || sizes_of(scope, node.output(output)) == nullptr) return false;
  Sizes& shape = *scope.type(node.output(output)).mutable_tensor_type()->mutable_shape();
  if (axis >= shape.dim_size() || shape.dim(axis).has_dim_value()) return false;
  shape.mutable_dim(axis)->set_dim_value(*size);
  return true;
}

// The result has the sizes of the input, but k along the axis. Where k is not known, libonnx knows none of them.
bool bound_top(const onnx::NodeProto& node, OnnxScope& scope) {
  const Sizes* input = sizes_of(scope, node.input(0));
  bool bounded = false;
  for (int output = 0; input != nullptr && output < 2; ++output)
    for (int i = 0; i < input->dim_size(); ++i)
      bounded = set_open(node, output, i, bound_of({size_at(*input, i)}), scope) || bounded;
  return bounded;
}

}  // namespace

bool has_upper_bound(const onnx::NodeProto& node) {
  if (!node.domain().empty() && node.domain() != "ai.onnx") return false;
  return node.op_type() == "NonZero" || node.op_type() == "NonMaxSuppression" || node.op_type() == "TopK";
}

bool bound_sizes(const onnx::NodeProto& node, OnnxScope& scope, OnnxFolder& folder) {
  if (!has_upper_bound(node) || node.input_size() < 1) return false;
  if (node.op_type() == "NonZero") return set_open(node, 0, 1, most_nonzero(node, scope), scope);
  if (node.op_type() == "TopK") return bound_top(node, scope);
  return set_open(node, 0, 0, most_selected(node, scope, folder), scope);
}

}  // namespace emplace::formats
