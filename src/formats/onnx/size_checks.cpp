#include "formats/onnx/size_checks.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/onnx/inference.hpp"
#include "formats/onnx/inner_sizes.hpp"
#include "formats/onnx/types.hpp"

namespace emplace::formats {

Shape shape_known(const OnnxScope& scope, const std::string& name) {
  Shape shape;
  const auto found = scope.types.find(name);
  if (found == scope.types.end() || !found->second->has_tensor_type() || !found->second->tensor_type().has_shape())
    return shape;
  shape.ranked = true;
  for (const auto& dimension : found->second->tensor_type().shape().dim())
    shape.dims.push_back(dimension.has_dim_value() ? dimension.dim_value() : Shape::unknown_dimension);
  return shape;
}

namespace {

const std::unordered_set<std::string_view> broadcasting_types = {"Add",
                                                                 "Sub",
                                                                 "Mul",
                                                                 "Div",
                                                                 "Pow",
                                                                 "Mod",
                                                                 "Equal",
                                                                 "Less",
                                                                 "LessOrEqual",
                                                                 "Max",
                                                                 "Min",
                                                                 "Greater",
                                                                 "GreaterOrEqual",
                                                                 "Sum",
                                                                 "Mean",
                                                                 "And",
                                                                 "Or",
                                                                 "Xor",
                                                                 "Where"};
const std::unordered_set<std::string_view> convolutions = {"Conv", "ConvTranspose", "ConvInteger", "QLinearConv"};
const std::unordered_set<std::string_view> element_keepers = {"Reshape", "Flatten", "Squeeze", "Unsqueeze",
                                                              "Transpose"};

bool is_standard(const onnx::NodeProto& node) { return node.domain().empty() || node.domain() == "ai.onnx"; }

// NumPy's rule for one more operand; false if a pair of known sizes cannot be combined.
bool broadcast_with(Shape& sizes, const Shape& next) {
  if (!sizes.ranked || !next.ranked) {
    sizes.ranked = false;
    return true;
  }
  if (next.dims.size() > sizes.dims.size())
    sizes.dims.insert(sizes.dims.begin(), next.dims.size() - sizes.dims.size(), 1);
  for (std::size_t i = 0; i < next.dims.size(); ++i) {
    std::int64_t& size = sizes.dims[sizes.dims.size() - 1 - i];
    const std::int64_t other = next.dims[next.dims.size() - 1 - i];
    if (size > 1 && other > 1 && size != other) return false;
    if (size == 1 || (size < 0 && other > 1)) size = other;
  }
  return true;
}

void check_broadcast(const onnx::NodeProto& node, const OnnxScope& scope, const std::string& file) {
  // Opset 6 and before state another rule in attributes.
  for (const auto& attribute : node.attribute())
    if (attribute.name() == "broadcast" || attribute.name() == "axis") return;
  Shape sizes = Shape::scalar();
  for (int i = 0; i < node.input_size(); ++i) {
    if (node.input(i).empty()) continue;
    const Shape before = sizes, next = shape_known(scope, node.input(i));
    if (!broadcast_with(sizes, next))
      throw InputError(file,
                       "node {}: its input {} of shape {} does not broadcast with the inputs before it, of shape {}",
                       describe(node), quote(node.input(i)), next.str(), before.str());
  }
}

void check_concat(const onnx::NodeProto& node, const OnnxScope& scope, const std::string& file) {
  std::int64_t axis = 1, sum = 0;
  for (const auto& attribute : node.attribute())
    if (attribute.name() == "axis") axis = attribute.i();
  Shape first;
  for (const std::string& name : node.input()) {
    const Shape part = shape_known(scope, name);
    if (!part.ranked) return;
    const auto at = front_axis(axis, part.dims.size());
    if (!at) return;  // libonnx reports it
    if (part.dims[*at] > total_limit - sum)
      throw InputError(file, "node {}: the sizes of its inputs add up to more than 2^62", describe(node));
    sum += std::max<std::int64_t>(part.dims[*at], 0);
    if (!first.ranked) first = part;
    bool fits = part.dims.size() == first.dims.size();
    for (std::size_t i = 0; fits && i < part.dims.size(); ++i)
      fits = i == *at || part.dims[i] < 0 || first.dims[i] < 0 || part.dims[i] == first.dims[i];
    if (!fits)
      throw InputError(file, "node {}: its input {} of shape {} cannot be joined to {} along axis {}", describe(node),
                       quote(name), part.str(), first.str(), axis);
  }
}

void check_tile(const onnx::NodeProto& node, OnnxScope& scope, OnnxFolder& folder, const std::string& file) {
  if (node.input_size() != 2) return;
  const Shape input = shape_known(scope, node.input(0));
  const OnnxValue repeats = folder.value(scope, node.input(1));
  if (!input.ranked || repeats == nullptr || repeats->is_real() || repeats->elements.size() != input.dims.size())
    return;
  for (std::size_t i = 0; i < input.dims.size(); ++i) {
    const FoldedElement& times = repeats->elements[i];
    if (times.known && input.dims[i] > 0 && times.whole > total_limit / input.dims[i])
      throw InputError(file, "node {}: it repeats dimension {} of size {} {} times; the result may have 2^62 at most",
                       describe(node), i, input.dims[i], times.whole);
  }
}

// A target with one open size must divide the elements of the input.
void check_target(const onnx::NodeProto& node, OnnxScope& scope, OnnxFolder& folder, const std::string& file) {
  if (node.input_size() != 2) return;
  const auto elements = shape_known(scope, node.input(0)).elements();
  const OnnxValue target = folder.value(scope, node.input(1));
  if (!elements || target == nullptr || target->is_real() || !target->is_known()) return;
  Shape stated = Shape::scalar();
  bool is_open = false;
  for (const FoldedElement& size : target->elements) {
    if (size.whole == 0) return;  // it stands for the input's size
    if (size.whole < 0)
      is_open = true;
    else
      stated.dims.push_back(size.whole);
  }
  const auto product = stated.elements();
  if (is_open && (!product || *elements % *product != 0))
    throw InputError(file, "node {}: its input {} of shape {} cannot be divided into parts of {}", describe(node),
                     quote(node.input(0)), shape_known(scope, node.input(0)).str(), stated.str());
}

void check_group(const onnx::NodeProto& node, const std::string& file) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == "group" && attribute.i() < 1)
      throw InputError(file, "node {}: it has {} groups, at least 1 is possible", describe(node), attribute.i());
}

}  // namespace

void check_operands(const onnx::NodeProto& node, OnnxScope& scope, OnnxFolder& folder, const std::string& file) {
  if (!is_standard(node)) return;
  if (convolutions.contains(node.op_type())) check_group(node, file);
  if (broadcasting_types.contains(node.op_type())) check_broadcast(node, scope, file);
  if (node.op_type() == "Concat") check_concat(node, scope, file);
  if (node.op_type() == "Reshape") check_target(node, scope, folder, file);
  if (node.op_type() == "Tile") check_tile(node, scope, folder, file);
  check_inner_sizes(node, scope, file);
}

void check_result(const onnx::NodeProto& node, const OnnxScope& scope, const std::string& file) {
  if (!is_standard(node) || !element_keepers.contains(node.op_type()) || node.input_size() < 1 ||
      node.output_size() < 1)
    return;
  const Shape input = shape_known(scope, node.input(0)), output = shape_known(scope, node.output(0));
  if (!input.is_static() || !output.is_static()) return;
  const auto before = input.elements(), after = output.elements();
  if (before == after) return;
  throw InputError(file, "node {}: its input {} of shape {} has {} elements, its output of shape {} has {}",
                   describe(node), quote(node.input(0)), input.str(),
                   before ? fmt::format("{}", *before) : std::string("more than 2^62"), output.str(),
                   after ? fmt::format("{}", *after) : std::string("more than 2^62"));
}

}  // namespace emplace::formats
