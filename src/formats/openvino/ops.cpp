#include "formats/openvino/ops.hpp"

#include <pugixml.hpp>
#include <unordered_map>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/utf8.hpp"

namespace emplace::formats {

namespace {

constexpr OpenvinoOpName openvino_names[] = {
    {"Const", "Constant"},
    {"Convolution", "Conv"},
    {"ConvolutionBackpropData", "ConvTranspose"},
    {"Deconvolution", "ConvTranspose"},
    {"FullyConnected", "Gemm"},
    {"Subtract", "Sub"},
    {"Multiply", "Mul"},
    {"Divide", "Div"},
    {"Power", "Pow"},
    {"Maximum", "Max"},
    {"Minimum", "Min"},
    {"Negative", "Neg"},
    {"Ceiling", "Ceil"},
    {"FloorMod", "Mod"},
    {"LogicalAnd", "And"},
    {"LogicalOr", "Or"},
    {"LogicalXor", "Xor"},
    {"LogicalNot", "Not"},
    {"GreaterEqual", "GreaterOrEqual"},
    {"LessEqual", "LessOrEqual"},
    {"Select", "Where"},
    {"ReLU", "Relu"},
    {"PReLU", "PRelu"},
    {"ELU", "Elu"},
    {"Clamp", "Clip"},
    {"HSwish", "HardSwish"},
    {"HSigmoid", "HardSigmoid"},
    {"SoftPlus", "Softplus"},
    {"SoftSign", "Softsign"},
    {"SoftMax", "Softmax"},
    {"BatchNormInference", "BatchNormalization"},
    {"Norm", "LRN"},
    {"ReduceLogicalAnd", "ReduceMin"},
    {"ReduceLogicalOr", "ReduceMax"},
    {"AvgPool", "AveragePool"},
    {"Convert", "Cast"},
    {"ConvertLike", "CastLike"},
    {"ConvertPromoteTypes", "Cast"},
    {"ShapeOf", "Shape"},
    {"Broadcast", "Expand"},
    {"StridedSlice", "Slice"},
    {"Crop", "Slice"},
    {"VariadicSplit", "Split"},
    {"Permute", "Transpose"},
    {"Interpolate", "Resize"},
    {"Interp", "Resize"},
    {"ScatterUpdate", "ScatterElements"},
    {"ScatterNDUpdate", "ScatterND"},
    {"SliceScatter", "ScatterND"},
    {"Eye", "EyeLike"},
    {"SpaceToBatch", "SpaceToBatchND"},
    {"BatchToSpace", "BatchToSpaceND"},
    {"ScatterElementsUpdate", "ScatterElements"},
    // (X, H, C, lengths, W, R, B) -> ONNX' (X, W, R, B, lengths, H, C).
    {"LSTMSequence", "LSTM", "0456312"},
    // (X, H, lengths, W, R, B)
    {"GRUSequence", "GRU", "034521"},
    {"RNNSequence", "RNN", "034521"},
};

struct Precision {
  std::string_view name;
  DType type;
};
constexpr Precision precisions[] = {
    {"fp32", DType::f32},
    {"f32", DType::f32},
    {"fp16", DType::f16},
    {"f16", DType::f16},
    {"bf16", DType::bf16},
    {"fp64", DType::f64},
    {"f64", DType::f64},
    {"i64", DType::i64},
    {"i32", DType::i32},
    {"i16", DType::i16},
    {"i8", DType::i8},
    {"u64", DType::u64},
    {"u32", DType::u32},
    {"u16", DType::u16},
    {"u8", DType::u8},
    {"bool", DType::boolean},
    {"boolean", DType::boolean},
    {"string", DType::text},
    {"i4", DType::i8},
    {"u4", DType::u8},
    {"u2", DType::u8},
    {"u3", DType::u8},
    {"u6", DType::u8},
    {"u1", DType::u8},
    {"bin", DType::u8},
    {"nf4", DType::u8},
    {"f4e2m1", DType::u8},
    {"f8e4m3", DType::u8},
    {"f8e5m2", DType::u8},
    {"f8e8m0", DType::u8},
    {"q78", DType::i16},
    {"unspecified", DType::unknown},
    {"undefined", DType::unknown},
    {"dynamic", DType::unknown},
    {"", DType::unknown},
};

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

Attribute value_of(std::string_view text, bool is_list) {
  std::vector<std::int64_t> wholes;
  bool all_whole = true;
  for (const std::string& part : split(text, ',')) {
    std::int64_t whole = 0;
    all_whole = all_whole && parse_number(trimmed(part), whole);
    if (!all_whole) break;
    wholes.push_back(whole);
  }
  if (all_whole && (is_list || wholes.size() > 1)) return wholes;
  if (all_whole) return wholes[0];
  double number = 0;
  if (parse_number(text, number)) return number;
  const std::string word = lower_case(text);
  if (word == "true" || word == "false") return std::int64_t{word == "true"};
  return std::string(text);
}

}  // namespace

OpenvinoOpName graph_op_name(std::string_view openvino, const pugi::xml_node& data) {
  // Types of IR 6 and older whose op depends on an attribute.
  if (openvino == "Eltwise") {
    const std::string_view operation = data.attribute("operation").as_string("sum");
    for (const auto& [name, type] : {std::pair<std::string_view, std::string_view>{"sum", "Sum"},
                                     {"mul", "Mul"},
                                     {"prod", "Mul"},
                                     {"max", "Max"},
                                     {"min", "Min"},
                                     {"sub", "Sub"},
                                     {"div", "Div"},
                                     {"pow", "Pow"},
                                     {"squared_diff", "SquaredDifference"}})
      if (operation == name) return {openvino, type};
    return {openvino, openvino};
  }
  if (openvino == "Pooling")
    return {openvino,
            std::string_view(data.attribute("pool-method").as_string("max")) == "avg" ? "AveragePool" : "MaxPool"};
  if (openvino == "ReLU" && data.attribute("negative_slope").as_double(0) != 0) return {openvino, "LeakyRelu"};
  static const auto* const map = [] {
    auto* rows = new std::unordered_map<std::string_view, const OpenvinoOpName*>;
    for (const OpenvinoOpName& row : openvino_names) rows->emplace(row.openvino, &row);
    return rows;
  }();
  const auto found = map->find(openvino);
  return found == map->end() ? OpenvinoOpName{openvino, openvino} : *found->second;
}

std::map<std::string, Attribute> attributes_of(const pugi::xml_node& data) {
  constexpr std::size_t longest_text = 1024;
  std::map<std::string, Attribute> attributes;
  for (const pugi::xml_attribute& attribute : data.attributes()) {
    const std::string_view name = attribute.name(), value = attribute.value();
    if (name == "element_type" || name == "shape" || name == "offset" || name == "size") continue;
    if (value.size() > longest_text || !is_utf8(value) || !is_utf8(name)) continue;
    const bool is_list = name == "kernel" || name == "strides" || name == "dilations" || name == "pads_begin" ||
                         name == "pads_end" || name == "output_padding";
    const std::string key(name == "kernel"        ? "kernel_shape"
                          : name == "transpose_a" ? "transA"
                          : name == "transpose_b" ? "transB"
                                                  : name);
    attributes[key] = value_of(value, is_list);
  }
  return attributes;
}

DType dtype_of_openvino(std::string_view precision, const std::string& place) {
  const std::string name = lower_case(precision);
  for (const Precision& row : precisions)
    if (row.name == name) return row.type;
  throw InputError(place, "has the unknown element type {}", quote(precision));
}

}  // namespace emplace::formats
