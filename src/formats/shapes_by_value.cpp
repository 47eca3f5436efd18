#include "formats/shapes_by_value.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string_view>

#include "formats/constant_values.hpp"

namespace emplace::formats {

namespace {

using Wholes = std::vector<std::int64_t>;

// The rank of a tensor from a file is at most 254; the sizes that a constant names are checked by Graph::validate.
constexpr std::size_t most_shape_dimensions = 254;

const Shape& shape_of_operand(const Graph& graph, const GraphOp& op, std::size_t position) {
  static const Shape none;
  if (position >= op.inputs.size()) return none;
  const Operand& operand = op.inputs[position];
  if (operand.is_tensor()) return graph.tensors[operand.index].shape;
  return operand.is_parameter() ? graph.parameters[operand.index].shape : none;
}

// The value of an operand that a Constant makes; nullptr if it is not known.
const Wholes* value_of_operand(const Graph& graph, const GraphOp& op, std::size_t position) {
  if (position >= op.inputs.size() || !op.inputs[position].is_tensor()) return nullptr;
  const OpId producer = graph.tensors[op.inputs[position].index].producer;
  if (producer.is_none()) return nullptr;
  const auto& attributes = graph.ops[producer.index()].attributes;
  const auto found = attributes.find(constant_attribute);
  return found == attributes.end() ? nullptr : std::get_if<Wholes>(&found->second);
}

bool is_set(const GraphOp& op, const char* name) {
  const auto found = op.attributes.find(name);
  return found != op.attributes.end() && found->second != Attribute{std::int64_t{0}};
}

// Axes counted from the front; nullopt if one is outside of the shape or named twice.
std::optional<std::set<std::size_t>> axes_of(const Wholes& value, std::size_t rank) {
  std::set<std::size_t> axes;
  for (std::int64_t axis : value) {
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank) || !axes.insert(static_cast<std::size_t>(axis)).second)
      return std::nullopt;
  }
  return axes;
}

// Data with the indices' sizes in the place of one axis.
std::optional<Shape> gathered_shape(const Graph& graph, const GraphOp& op) {
  const Shape &data = shape_of_operand(graph, op, 0), &indices = shape_of_operand(graph, op, 1);
  const Wholes* value = value_of_operand(graph, op, 2);
  if (!data.ranked || !indices.ranked || value == nullptr || value->size() != 1 || is_set(op, "batch_dims"))
    return std::nullopt;
  const auto axes = axes_of(*value, data.dims.size());
  if (!axes || data.dims.size() + indices.dims.size() > most_shape_dimensions) return std::nullopt;
  const auto axis = static_cast<std::ptrdiff_t>(*axes->begin());
  Shape result = Shape::scalar();
  result.dims.assign(data.dims.begin(), data.dims.begin() + axis);
  result.dims.insert(result.dims.end(), indices.dims.begin(), indices.dims.end());
  result.dims.insert(result.dims.end(), data.dims.begin() + axis + 1, data.dims.end());
  return result;
}

// -1 stands for the size that keeps the number of elements, and OpenVINO's 0 for the input's size.
std::optional<Shape> reshaped_shape(const Graph& graph, const GraphOp& op) {
  const Shape& from = shape_of_operand(graph, op, 0);
  const Wholes* value = value_of_operand(graph, op, 1);
  if (value == nullptr || shape_of_operand(graph, op, 1).dims.size() != 1) return std::nullopt;
  Shape result = Shape::scalar();
  std::int64_t known = 1;
  for (std::size_t i = 0; i < value->size(); ++i) {
    std::int64_t size = (*value)[i];
    if (size == 0 && is_set(op, "special_zero"))
      size = from.ranked && i < from.dims.size() ? from.dims[i] : Shape::unknown_dimension;
    if (size < -1 || size > total_limit) return std::nullopt;
    if (size > 0 && known > 0) known = known > total_limit / size ? 0 : known * size;
    if (size == 0) known = 0;
    result.dims.push_back(size);
  }
  const auto elements = from.elements();
  if (std::ranges::count(result.dims, -1) == 1 && elements && known > 0 && *elements % known == 0)
    std::ranges::replace(result.dims, -1, *elements / known);
  return result;
}

std::optional<Shape> transposed_shape(const Graph& graph, const GraphOp& op) {
  const Shape& from = shape_of_operand(graph, op, 0);
  const Wholes* value = value_of_operand(graph, op, 1);
  if (!from.ranked || value == nullptr || value->size() != from.dims.size()) return std::nullopt;
  if (!axes_of(*value, from.dims.size())) return std::nullopt;
  Shape result = Shape::scalar();
  for (const std::int64_t axis : *value)
    result.dims.push_back(from.dims[static_cast<std::size_t>(axis < 0 ? axis + std::ssize(from.dims) : axis)]);
  return result;
}

std::optional<Shape> reduced_shape(const Graph& graph, const GraphOp& op, bool keep) {
  const Shape& from = shape_of_operand(graph, op, 0);
  const Wholes* value = value_of_operand(graph, op, 1);
  if (!from.ranked || value == nullptr) return std::nullopt;
  const auto axes = axes_of(*value, from.dims.size());
  if (!axes) return std::nullopt;
  Shape result = Shape::scalar();
  for (std::size_t i = 0; i < from.dims.size(); ++i) {
    if (!axes->contains(i))
      result.dims.push_back(from.dims[i]);
    else if (keep)
      result.dims.push_back(1);
  }
  return result;
}

std::optional<Shape> unsqueezed_shape(const Graph& graph, const GraphOp& op) {
  const Shape& from = shape_of_operand(graph, op, 0);
  const Wholes* value = value_of_operand(graph, op, 1);
  if (!from.ranked || value == nullptr || from.dims.size() + value->size() > most_shape_dimensions) return std::nullopt;
  const auto axes = axes_of(*value, from.dims.size() + value->size());
  if (!axes) return std::nullopt;
  Shape result = Shape::scalar();
  for (std::size_t i = 0, next = 0; i < from.dims.size() + value->size(); ++i)
    result.dims.push_back(axes->contains(i) ? 1 : from.dims[next++]);
  return result;
}

// TensorFlow: the axis is the last operand, or the first one in its first version.
std::optional<Shape> joined_shape(const Graph& graph, const GraphOp& op) {
  if (op.attributes.contains("axis") || op.inputs.size() < 2) return std::nullopt;
  const bool is_first = value_of_operand(graph, op, op.inputs.size() - 1) == nullptr;
  const Wholes* value = value_of_operand(graph, op, is_first ? 0 : op.inputs.size() - 1);
  const std::size_t begin = is_first ? 1 : 0, end = op.inputs.size() - (is_first ? 0 : 1);
  Shape result = shape_of_operand(graph, op, begin);
  if (value == nullptr || value->size() != 1 || !result.ranked) return std::nullopt;
  const auto axes = axes_of(*value, result.dims.size());
  if (!axes) return std::nullopt;
  std::int64_t& sum = result.dims[*axes->begin()];
  for (std::size_t i = begin + 1; i < end; ++i) {
    const Shape& part = shape_of_operand(graph, op, i);
    if (part.dims.size() != result.dims.size()) return std::nullopt;
    const std::int64_t size = part.dims[*axes->begin()];
    sum = sum < 0 || size < 0 || size > total_limit - sum ? Shape::unknown_dimension : sum + size;
  }
  return result;
}

// TensorFlow: the elements of a list on top of each other; -1 elements if their number is not known.
std::optional<Shape> stacked_shape(const Graph& graph, const GraphOp& op) {
  const Wholes* value = value_of_operand(graph, op, 1);
  if (value == nullptr || shape_of_operand(graph, op, 1).dims.size() != 1) return std::nullopt;
  const auto found = op.attributes.find("num_elements");
  const auto* const count = found == op.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  Shape result = Shape::scalar();
  result.dims.push_back(count == nullptr || *count < 0 ? Shape::unknown_dimension : *count);
  for (const std::int64_t size : *value) {
    if (size < -1 || size > total_limit) return std::nullopt;
    result.dims.push_back(size);
  }
  return result;
}

// Without an operand the axes are an attribute, or all axes of size 1.
std::optional<Shape> squeezed_shape(const Graph& graph, const GraphOp& op) {
  if (op.inputs.size() > 1) return reduced_shape(graph, op, false);
  const Shape& from = shape_of_operand(graph, op, 0);
  const auto found = op.attributes.find("squeeze_dims");
  const auto* given = found == op.attributes.end() ? nullptr : std::get_if<Wholes>(&found->second);
  if (!from.is_static()) return std::nullopt;
  const auto axes = axes_of(given == nullptr ? Wholes() : *given, from.dims.size());
  if (!axes) return std::nullopt;
  Shape result = Shape::scalar();
  for (std::size_t i = 0; i < from.dims.size(); ++i)
    if (axes->empty() ? from.dims[i] != 1 : !axes->contains(i)) result.dims.push_back(from.dims[i]);
  return result;
}

std::int64_t whole_of(const GraphOp& op, const char* name, std::int64_t fallback) {
  const auto found = op.attributes.find(name);
  const auto* value = found == op.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return value == nullptr ? fallback : *value;
}

// The elements from `begin` to `end` of an axis, by TensorFlow's rules (as Python's slices); -1 if they are not known.
std::int64_t sliced_size(std::int64_t size, std::int64_t begin, std::int64_t end, std::int64_t stride, bool from_start,
                         bool to_end) {
  if (size < 0 || stride == 0 || std::abs(stride) > size + 1) return size == 0 ? 0 : Shape::unknown_dimension;
  const std::int64_t least = stride > 0 ? 0 : -1, most = stride > 0 ? size : size - 1;
  const auto place = [&](std::int64_t at) { return std::clamp(at < 0 ? at + size : at, least, most); };
  const std::int64_t first = from_start ? (stride > 0 ? 0 : size - 1) : place(begin);
  const std::int64_t last = to_end ? (stride > 0 ? size : -1) : place(end);
  const std::int64_t length = stride > 0 ? last - first : first - last;
  return length <= 0 ? 0 : (length + std::abs(stride) - 1) / std::abs(stride);
}

// TensorFlow's StridedSlice without ellipsis and new axes; its masks have a bit for each entry of begin, end and
// strides.
std::optional<Shape> sliced_shape(const Graph& graph, const GraphOp& op) {
  const Shape& from = shape_of_operand(graph, op, 0);
  const Wholes *begin = value_of_operand(graph, op, 1), *end = value_of_operand(graph, op, 2),
               *strides = value_of_operand(graph, op, 3);
  if (!from.ranked || begin == nullptr || end == nullptr || strides == nullptr || is_set(op, "ellipsis_mask") ||
      is_set(op, "new_axis_mask") || !op.attributes.contains("shrink_axis_mask"))
    return std::nullopt;
  if (begin->size() != end->size() || begin->size() != strides->size() || begin->size() > from.dims.size())
    return std::nullopt;
  const auto has_bit = [&](const char* mask, std::size_t i) { return (whole_of(op, mask, 0) >> i & 1) != 0; };
  Shape result = Shape::scalar();
  for (std::size_t i = 0; i < from.dims.size(); ++i) {
    if (i >= begin->size())
      result.dims.push_back(from.dims[i]);
    else if (!has_bit("shrink_axis_mask", i))
      result.dims.push_back(sliced_size(from.dims[i], (*begin)[i], (*end)[i], (*strides)[i], has_bit("begin_mask", i),
                                        has_bit("end_mask", i)));
  }
  return result;
}

// TensorFlow's Split: equal parts along the axis, which is the second operand here.
std::optional<Shape> split_shape(const Graph& graph, const GraphOp& op) {
  Shape result = shape_of_operand(graph, op, 0);
  const Wholes* value = value_of_operand(graph, op, 1);
  const std::int64_t parts = whole_of(op, "num_split", 0);
  if (!result.ranked || value == nullptr || value->size() != 1 || parts < 1) return std::nullopt;
  const auto axes = axes_of(*value, result.dims.size());
  if (!axes) return std::nullopt;
  std::int64_t& size = result.dims[*axes->begin()];
  size = size < 0 || size % parts != 0 ? Shape::unknown_dimension : size / parts;
  return result;
}

// TensorFlow: two numbers for each dimension, what is added before and behind.
std::optional<Shape> padded_shape(const Graph& graph, const GraphOp& op) {
  Shape result = shape_of_operand(graph, op, 0);
  const Wholes* value = value_of_operand(graph, op, 1);
  if (!result.ranked || value == nullptr || value->size() != 2 * result.dims.size() ||
      shape_of_operand(graph, op, 1).dims.size() != 2)
    return std::nullopt;
  for (std::size_t i = 0; i < result.dims.size(); ++i) {
    const std::int64_t before = (*value)[2 * i], behind = (*value)[2 * i + 1];
    if (before < 0 || behind < 0 || before > total_limit / 4 || behind > total_limit / 4) return std::nullopt;
    if (result.dims[i] >= 0) result.dims[i] = std::min(result.dims[i], total_limit / 2) + before + behind;
  }
  return result;
}

// The operand at `position` is the shape.
std::optional<Shape> stated_shape(const Graph& graph, const GraphOp& op, std::size_t position) {
  const Wholes* value = value_of_operand(graph, op, position);
  if (value == nullptr || shape_of_operand(graph, op, position).dims.size() != 1) return std::nullopt;
  for (const std::int64_t size : *value)
    if (size < -1 || size > total_limit) return std::nullopt;
  return Shape(*value);
}

}  // namespace

std::optional<Shape> shape_by_value(const Graph& graph, const GraphOp& op) {
  const std::string_view type = op.type;
  if (type == "Gather") return gathered_shape(graph, op);
  if (type == "Reshape") return reshaped_shape(graph, op);
  if (type == "Transpose") return transposed_shape(graph, op);
  if (type == "Concat") return joined_shape(graph, op);
  if (type == "TensorListStack") return stacked_shape(graph, op);
  if (type == "TensorListGetItem") return stated_shape(graph, op, 2);
  if (type == "Fill" || type == "ConstantOfShape" || type == "RandomUniform" || type == "RandomNormal")
    return stated_shape(graph, op, 0);
  if (type == "Slice") return sliced_shape(graph, op);
  if (type == "Split") return split_shape(graph, op);
  if (type == "Pad") return padded_shape(graph, op);
  if (type == "Unsqueeze") return unsqueezed_shape(graph, op);
  if (type == "Squeeze") return squeezed_shape(graph, op);
  if (type == "ReduceMean" || type == "ReduceSum" || type == "ReduceMax" || type == "ReduceMin" || type == "ReduceProd")
    return reduced_shape(graph, op, is_set(op, "keep_dims"));
  return std::nullopt;
}

}  // namespace emplace::formats
