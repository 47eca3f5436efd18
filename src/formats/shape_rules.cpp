#include "formats/shape_rules.hpp"

#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"
#include "formats/shapes_by_value.hpp"

namespace emplace::formats {

namespace {

constexpr std::int64_t unknown = Shape::unknown_dimension;
using OpTypes = std::unordered_set<std::string_view>;

// Types whose outputs all have the shape of the first input.
const OpTypes like_input = {"Relu",
                            "LeakyRelu",
                            "PRelu",
                            "Elu",
                            "Selu",
                            "Clip",
                            "Sigmoid",
                            "HardSigmoid",
                            "HardSwish",
                            "Tanh",
                            "Softplus",
                            "Softsign",
                            "Gelu",
                            "Swish",
                            "Mish",
                            "Softmax",
                            "LogSoftmax",
                            "Exp",
                            "Log",
                            "Log1p",
                            "Expm1",
                            "Sqrt",
                            "Rsqrt",
                            "Square",
                            "Neg",
                            "Abs",
                            "Erf",
                            "Sin",
                            "Cos",
                            "Floor",
                            "Ceil",
                            "Round",
                            "Sign",
                            "Reciprocal",
                            "Not",
                            "IsNaN",
                            "IsFinite",
                            "Cast",
                            "Identity",
                            "Dropout",
                            "MVN",
                            "LRN",
                            "CumSum",
                            "NormalizeL2",
                            "FakeQuantize",
                            "ScaleShift",
                            "BiasAdd",
                            "ZerosLike",
                            "OnesLike",
                            "Enter",
                            "Exit",
                            "StopGradient",
                            "PreventGradient",
                            "CheckNumerics",
                            "Switch",
                            "Merge",
                            "NextIteration",
                            "ReverseSequence",
                            "LayerNormalization",
                            "InstanceNormalization",
                            "BatchNormalization",
                            "Snapshot",
                            "ReadValue",
                            "Trilu"};

const OpTypes broadcasting = {"Add",
                              "Sub",
                              "Mul",
                              "Div",
                              "Pow",
                              "Max",
                              "Min",
                              "Mod",
                              "Sum",
                              "Mean",
                              "Equal",
                              "NotEqual",
                              "Less",
                              "LessOrEqual",
                              "Greater",
                              "Where",
                              "And",
                              "Or",
                              "Xor",
                              "FloorDiv",
                              "GreaterOrEqual",
                              "SquaredDifference"};

const OpTypes same_elements = {"Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten"};
const OpTypes other_rearrangements = {"Gather",    "ReduceMean", "ReduceSum", "ReduceMax",
                                      "ReduceMin", "ReduceProd", "Expand",    "Tile"};

const Shape& shape_of(const Graph& graph, const Operand& operand) {
  static const Shape none;
  if (operand.is_tensor()) return graph.tensors[operand.index].shape;
  return operand.is_parameter() ? graph.parameters[operand.index].shape : none;
}
const Shape& input_shape(const Graph& graph, const GraphOp& op, std::size_t position) {
  static const Shape none;
  return position < op.inputs.size() ? shape_of(graph, op.inputs[position]) : none;
}

std::int64_t whole(const GraphOp& op, const char* name, std::int64_t fallback) {
  const auto found = op.attributes.find(name);
  const auto* value = found == op.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return value == nullptr ? fallback : *value;
}
std::string_view text(const GraphOp& op, const char* name) {
  const auto found = op.attributes.find(name);
  const auto* value = found == op.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return value == nullptr ? std::string_view() : *value;
}
// Element `i` of a list attribute, or `fallback` if there is none.
std::int64_t element(const GraphOp& op, const char* name, std::size_t i, std::int64_t fallback) {
  const auto found = op.attributes.find(name);
  const auto* value = found == op.attributes.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&found->second);
  return value == nullptr || i >= value->size() ? fallback : (*value)[i];
}

// NumPy's rule. An unknown size that is combined with a size above 1 gives that size, as no other can be valid.
Shape broadcast(const Shape& a, const Shape& b) {
  if (!a.ranked || !b.ranked) return {};
  const Shape& longer = a.dims.size() >= b.dims.size() ? a : b;
  const Shape& shorter = a.dims.size() >= b.dims.size() ? b : a;
  Shape result = longer;
  const std::size_t lead = longer.dims.size() - shorter.dims.size();
  for (std::size_t i = 0; i < shorter.dims.size(); ++i) {
    std::int64_t& size = result.dims[lead + i];
    const std::int64_t other = shorter.dims[i];
    if (size == 1)
      size = other;
    else if (size == unknown && other > 1)
      size = other;
    else if (other != 1 && other != unknown && other != size)
      size = unknown;  // the sizes do not fit: the file is wrong or has another layout than assumed
  }
  return result;
}

// Softmax(q k^T) v: the result has the sizes of the queries, but the last one of the values.
std::optional<Shape> attention(const Shape& query, const Shape& key, const Shape& value) {
  if (!query.ranked || !key.ranked || !value.ranked || query.dims.size() < 2 || value.dims.size() < 2 ||
      key.dims.size() != query.dims.size())
    return std::nullopt;
  Shape many_queries = query, many_keys = key;
  many_queries.dims.resize(query.dims.size() - 2);
  many_keys.dims.resize(key.dims.size() - 2);
  Shape result = broadcast(many_queries, many_keys);
  result.dims.push_back(query.dims[query.dims.size() - 2]);
  result.dims.push_back(value.dims.back());
  return result;
}

std::optional<Shape> matmul(const GraphOp& op, Shape a, Shape b) {
  if (!a.ranked || !b.ranked || a.dims.size() < 2 || b.dims.size() < 2) return std::nullopt;
  if (whole(op, "transA", 0) != 0) std::swap(a.dims[a.dims.size() - 1], a.dims[a.dims.size() - 2]);
  if (whole(op, "transB", 0) != 0) std::swap(b.dims[b.dims.size() - 1], b.dims[b.dims.size() - 2]);
  const std::int64_t rows = a.dims[a.dims.size() - 2], columns = b.dims.back();
  a.dims.resize(a.dims.size() - 2);
  b.dims.resize(b.dims.size() - 2);
  Shape result = broadcast(a, b);
  result.dims.push_back(rows);
  result.dims.push_back(columns);
  return result;
}

// Output size along one axis of a window that slides over the input.
std::int64_t slide(std::int64_t size, std::int64_t window, std::int64_t stride, std::int64_t dilation,
                   std::int64_t pads, bool same, bool round_up) {
  if (size < 0 || window < 1 || stride < 1 || dilation < 1 || size > (std::int64_t{1} << 40) ||
      window > (std::int64_t{1} << 20) || dilation > (std::int64_t{1} << 20) || pads < 0 ||
      pads > (std::int64_t{1} << 40))
    return unknown;
  if (same) return (size + stride - 1) / stride;
  const std::int64_t room = size + pads - (dilation * (window - 1) + 1);
  return room < 0 ? unknown : (room + (round_up ? stride - 1 : 0)) / stride + 1;
}

// OpenVINO: channels first; weights are (output x input x kernel), with the groups in front for GroupConvolution.
std::optional<Shape> openvino_window(const GraphOp& op, const Shape& x, const Shape& weight, bool pooling) {
  const std::size_t grouped = op.type == "GroupConvolution" ? 1 : 0;
  const std::size_t rank = x.dims.size();
  if (rank < 3 || (!pooling && weight.dims.size() != rank + grouped)) return std::nullopt;
  const std::string_view padding = text(op, "auto_pad");
  const bool same = padding.starts_with("same"), no_pads = padding == "valid";
  Shape result = x;
  if (!pooling) {
    const std::int64_t a = weight.dims[0], b = weight.dims[1];
    result.dims[1] = grouped == 0 ? a : a > 0 && b > 0 && a <= total_limit / b ? a * b : unknown;
  }
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    const std::int64_t window = pooling ? element(op, "kernel_shape", i, 0) : weight.dims[2 + grouped + i];
    const std::int64_t before = element(op, "pads_begin", i, 0), after = element(op, "pads_end", i, 0);
    const std::int64_t pads = no_pads                                                            ? 0
                              : before >= 0 && after >= 0 && before < 1 << 30 && after < 1 << 30 ? before + after
                                                                                                 : -1;
    result.dims[2 + i] = slide(x.dims[2 + i], window, element(op, "strides", i, 1), element(op, "dilations", i, 1),
                               pads, same, text(op, "rounding_type") == "ceil");
  }
  return result;
}

// TensorFlow: strides, dilations and windows have an entry for each dimension; weights are (kernel x input x output),
// or (kernel x channels x multiplier).
std::optional<Shape> tensorflow_window(const GraphOp& op, const Shape& x, const Shape& weight, bool pooling) {
  const std::size_t rank = x.dims.size();
  if (rank < 3 || (!pooling && weight.dims.size() != rank)) return std::nullopt;
  const bool channels_first = text(op, "data_format").starts_with("NC");
  const std::string_view padding = text(op, "padding");
  if (padding != "SAME" && padding != "VALID") return std::nullopt;
  const std::size_t first = channels_first ? 2 : 1, channels = channels_first ? 1 : rank - 1;
  Shape result = x;
  if (!pooling) {
    const bool depthwise = op.type.find("Depthwise") != std::string::npos;
    const std::int64_t a = weight.dims[rank - 2], b = weight.dims[rank - 1];
    result.dims[channels] = !depthwise ? b : a > 0 && b > 0 && a <= total_limit / b ? a * b : unknown;
  }
  for (std::size_t i = 0; i + 2 < rank; ++i)
    result.dims[first + i] = slide(
        x.dims[first + i], pooling ? element(op, "kernel_shape", first + i, 0) : weight.dims[i],
        element(op, "strides", first + i, 1), element(op, "dilations", first + i, 1), 0, padding == "SAME", false);
  return result;
}

std::optional<Shape> window(const Graph& graph, const GraphOp& op, bool pooling) {
  const Shape &x = input_shape(graph, op, 0), &weight = input_shape(graph, op, 1);
  if (!x.ranked || (!pooling && !weight.ranked)) return std::nullopt;
  return op.attributes.contains("padding") ? tensorflow_window(op, x, weight, pooling)
                                           : openvino_window(op, x, weight, pooling);
}

std::optional<Shape> concat(const Graph& graph, const GraphOp& op) {
  const auto found = op.attributes.find("axis");
  if (found == op.attributes.end()) return std::nullopt;  // in TensorFlow the axis is an operand
  std::int64_t axis = whole(op, "axis", 0), sum = 0;
  Shape result = input_shape(graph, op, 0);
  if (!result.ranked) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(result.dims.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  for (const Operand& input : op.inputs) {
    const Shape& part = shape_of(graph, input);
    if (part.dims.size() != result.dims.size()) return std::nullopt;
    const std::int64_t size = part.dims[static_cast<std::size_t>(axis)];
    sum = sum < 0 || size < 0 || size > total_limit - sum ? unknown : sum + size;
    for (std::size_t i = 0; i < result.dims.size(); ++i)
      if (result.dims[i] == unknown) result.dims[i] = part.dims[i];
  }
  result.dims[static_cast<std::size_t>(axis)] = sum;
  return result;
}

// The sizes that the attribute "equation" ("bij,bjk->bik") names for the result.
std::optional<Shape> einsum(const Graph& graph, const GraphOp& op) {
  const std::string_view equation = text(op, "equation");
  const std::size_t arrow = equation.find("->");
  if (arrow == std::string_view::npos || equation.find('.') != std::string_view::npos) return std::nullopt;
  std::map<char, std::int64_t> sizes;
  std::size_t operand = 0, dimension = 0;
  for (const char c : equation.substr(0, arrow)) {
    if (c == ' ') continue;
    if (c == ',') {
      ++operand;
      dimension = 0;
      continue;
    }
    const Shape& shape = input_shape(graph, op, operand);
    if (dimension >= shape.dims.size()) return std::nullopt;
    const auto [found, is_new] = sizes.emplace(c, shape.dims[dimension++]);
    if (found->second == unknown || found->second == 1) found->second = shape.dims[dimension - 1];
  }
  Shape result = Shape::scalar();
  for (const char c : equation.substr(arrow + 2)) {
    if (c == ' ') continue;
    const auto found = sizes.find(c);
    if (found == sizes.end()) return std::nullopt;
    result.dims.push_back(found->second);
  }
  return result;
}

// TensorFlow: the operands on top of each other, along a new axis.
std::optional<Shape> packed(const Graph& graph, const GraphOp& op) {
  Shape result = input_shape(graph, op, 0);
  if (!result.ranked || result.dims.size() >= 254) return std::nullopt;
  std::int64_t axis = whole(op, "axis", 0);
  const auto rank = static_cast<std::int64_t>(result.dims.size()) + 1;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  result.dims.insert(result.dims.begin() + axis, static_cast<std::int64_t>(op.inputs.size()));
  return result;
}

// TensorFlow's number of the output ("node:1"); a graph has only those outputs that something reads.
std::size_t place_in_file(const Graph& graph, const GraphOp& op, std::size_t position) {
  const std::string_view name = graph.tensors[op.outputs[position].index()].name;
  std::int64_t number = 0;
  const bool is_numbered = parse_number(name.substr(name.rfind(':') + 1), number) && number >= 0;
  return is_numbered ? static_cast<std::size_t>(number) : position;
}

}  // namespace

bool keeps_elements(const GraphOp& op) { return same_elements.contains(op.type); }
bool rearranges(const GraphOp& op) {
  return keeps_elements(op) || other_rearrangements.contains(op.type) || broadcasting.contains(op.type);
}

std::optional<Shape> inferred_shape(const Graph& graph, const GraphOp& op, std::size_t position) {
  const std::string_view type = op.type;
  if (type == "Split" && op.attributes.contains("num_split")) return shape_by_value(graph, op);  // all parts are equal
  if (like_input.contains(type) && (position == 0 || type == "Switch")) return input_shape(graph, op, 0);
  if (type == "IdentityN") return input_shape(graph, op, place_in_file(graph, op, position));
  if (position != 0) return std::nullopt;
  if (auto by_value = shape_by_value(graph, op)) return by_value;
  if (broadcasting.contains(type) && !op.inputs.empty()) {
    Shape result = input_shape(graph, op, 0);
    for (std::size_t i = 1; i < op.inputs.size(); ++i) result = broadcast(result, shape_of(graph, op.inputs[i]));
    return result;
  }
  if (type == "MatMul" || type == "_FusedMatMul")
    return matmul(op, input_shape(graph, op, 0), input_shape(graph, op, 1));
  if (type == "ScaledDotProductAttention")
    return attention(input_shape(graph, op, 0), input_shape(graph, op, 1), input_shape(graph, op, 2));
  if (type == "Concat") return concat(graph, op);
  if (type == "Einsum") return einsum(graph, op);
  if (type == "Pack") return packed(graph, op);
  if (type == "MaxPool" || type == "AveragePool") return window(graph, op, true);
  if (type == "Conv" || type == "GroupConvolution" || type == "Conv2D" || type == "Conv3D" || type == "_FusedConv2D" ||
      type == "DepthwiseConv2dNative" || type == "FusedDepthwiseConv2dNative")
    return window(graph, op, false);
  if (type == "Shape") {
    const Shape& input = input_shape(graph, op, 0);
    if (input.ranked) return Shape{static_cast<std::int64_t>(input.dims.size())};
  }
  return std::nullopt;
}

}  // namespace emplace::formats
