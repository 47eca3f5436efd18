// Field numbers: graph.proto, node_def.proto, attr_value.proto, tensor.proto, tensor_shape.proto and types.proto of
// https://github.com/tensorflow/tensorflow/tree/master/tensorflow/core/framework.
#include "formats/tensorflow/node.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"
#include "formats/constant_values.hpp"
#include "formats/utf8.hpp"

namespace emplace::formats {

namespace {

constexpr std::size_t longest_list = 4096;
constexpr std::size_t longest_attribute = 1024;
constexpr std::size_t most_shapes = 65536;
constexpr std::size_t most_inputs = std::size_t{1} << 20;
constexpr std::int64_t reference = 100;  // added to the type of a variable's output: DT_FLOAT_REF = 101

constexpr ProtoEnumerator type_names[] = {
    {0, "DT_INVALID"},        {1, "DT_FLOAT"},    {2, "DT_DOUBLE"},  {3, "DT_INT32"},       {4, "DT_UINT8"},
    {5, "DT_INT16"},          {6, "DT_INT8"},     {7, "DT_STRING"},  {8, "DT_COMPLEX64"},   {9, "DT_INT64"},
    {10, "DT_BOOL"},          {11, "DT_QINT8"},   {12, "DT_QUINT8"}, {13, "DT_QINT32"},     {14, "DT_BFLOAT16"},
    {15, "DT_QINT16"},        {16, "DT_QUINT16"}, {17, "DT_UINT16"}, {18, "DT_COMPLEX128"}, {19, "DT_HALF"},
    {20, "DT_RESOURCE"},      {21, "DT_VARIANT"}, {22, "DT_UINT32"}, {23, "DT_UINT64"},     {24, "DT_FLOAT8_E5M2"},
    {25, "DT_FLOAT8_E4M3FN"}, {29, "DT_INT4"},    {30, "DT_UINT4"},
};

// Quantized integers and the eight-bit floats are mapped to plain integers of the same width.
constexpr DType type_of_enumerator[] = {
    DType::unknown, DType::f32, DType::f64, DType::i32,     DType::u8,   DType::i16, DType::i8,
    DType::text,    DType::c64, DType::i64, DType::boolean, DType::i8,   DType::u8,  DType::i32,
    DType::bf16,    DType::i16, DType::u16, DType::u16,     DType::c128, DType::f16, DType::unknown,
    DType::unknown, DType::u32, DType::u64, DType::u8,      DType::u8};

std::int64_t read_type(ProtoCursor& in) {
  const std::int64_t type = in.enumeration(tensorflow_types());
  if (type < 0) in.fail(fmt::format("the element type {} is not known", type));
  return type;
}

std::string read_attribute_text(ProtoCursor& in) {
  std::string text = in.text(longest_attribute).value_or("");
  return is_utf8(text) ? text : "";
}

void read_tensor(ProtoCursor& in, TfValue& value) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {{1, "dtype", enumeration},
                                          {2, "tensor_shape", message},
                                          {4, "tensor_content", text},
                                          {7, "int_val", whole},
                                          {10, "int64_val", whole}};
  value.kind = TfValue::Kind::tensor;
  value.shape = Shape::scalar();  // the meaning of an absent shape
  std::string content;
  while (const std::uint32_t field = in.next(fields)) switch (field) {
      case 1: value.type = read_type(in); break;
      case 2: in.message([&] { value.shape = read_tensor_shape(in); }); break;
      case 4: content = in.text(8 * most_constant_numbers).value_or(""); break;
      default: {
        const std::int64_t number = in.whole();
        if (std::ssize(value.wholes) <= most_constant_numbers) value.wholes.push_back(number);
      }
    }
  keep_small_wholes(value, content);
}

void read_list(ProtoCursor& in, TfValue& value) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {
      {2, "s", text}, {3, "i", whole}, {6, "type", enumeration}, {7, "shape", message}};
  value.kind = TfValue::Kind::list;
  while (const std::uint32_t field = in.next(fields)) switch (field) {
      case 2: {
        std::string element = read_attribute_text(in);
        if (value.texts.size() < longest_list) value.texts.push_back(std::move(element));
        break;
      }
      case 3: {
        const std::int64_t element = in.whole();
        if (value.wholes.size() <= longest_list) value.wholes.push_back(element);
        break;
      }
      case 6: {
        const std::int64_t element = read_type(in);
        if (value.types.size() <= longest_list) value.types.push_back(element);
        break;
      }
      default:
        if (value.shapes.size() == most_shapes) in.fail("a list has more than 65536 shapes");
        in.message([&] { value.shapes.push_back(read_tensor_shape(in)); });
    }
}

TfValue read_attribute_value(ProtoCursor& in) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {{1, "list", message},  {2, "s", text},         {3, "i", whole},
                                          {4, "f", real},        {5, "b", boolean},      {6, "type", enumeration},
                                          {7, "shape", message}, {8, "tensor", message}, {10, "func", message}};
  static constexpr ProtoField function_fields[] = {{1, "name", text}};
  using Kind = TfValue::Kind;
  TfValue value;
  while (const std::uint32_t field = in.next(fields)) switch (field) {
      case 1: in.message([&] { read_list(in, value); }); break;
      case 2:
        value.kind = Kind::text;
        value.text = read_attribute_text(in);
        break;
      case 3:
        value.kind = Kind::whole;
        value.whole = in.whole();
        break;
      case 4:
        value.kind = Kind::real;
        value.real = in.real();
        break;
      case 5:
        value.kind = Kind::boolean;
        value.whole = in.whole() != 0 ? 1 : 0;
        break;
      case 6:
        value.kind = Kind::type;
        value.type = read_type(in);
        break;
      case 7:
        value.kind = Kind::shape;
        in.message([&] { value.shape = read_tensor_shape(in); });
        break;
      case 10:
        value.kind = Kind::function;
        in.message([&] {
          while (in.next(function_fields) != 0) value.text = in.name();
        });
        break;
      default: in.message([&] { read_tensor(in, value); });
    }
  return value;
}

}  // namespace

void keep_small_wholes(TfValue& tensor, std::string_view content) {
  const std::int64_t plain = tensor.type > reference ? tensor.type - reference : tensor.type;
  const auto type = static_cast<std::size_t>(plain);
  const DType dtype = plain >= 0 && type < std::size(type_of_enumerator) ? type_of_enumerator[type] : DType::unknown;
  const bool is_read = is_small_whole(dtype, tensor.shape);
  const auto count = is_read ? static_cast<std::size_t>(*tensor.shape.elements()) : 0;
  const auto width = static_cast<std::size_t>(bytes_of(dtype));
  if (is_read && content.size() == count * width) tensor.wholes = numbers_in(content, width);
  if (is_read && tensor.wholes.size() == 1) tensor.wholes.resize(count, tensor.wholes.front());
  if (tensor.wholes.size() != count) tensor.wholes.clear();
}

const TfValue* TfNode::find(std::string_view attribute) const {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [&](const auto& pair) { return pair.first == attribute; });
  return found == attributes.end() ? nullptr : &found->second;
}

Shape read_tensor_shape(ProtoCursor& in) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {{2, "dim", message}, {3, "unknown_rank", boolean}};
  static constexpr ProtoField dim_fields[] = {{1, "size", whole}};
  Shape shape = Shape::scalar();
  bool unknown_rank = false;
  while (const std::uint32_t field = in.next(fields)) {
    if (field == 3) {
      unknown_rank = in.whole() != 0;
      continue;
    }
    std::int64_t size = 0;
    in.message([&] {
      while (in.next(dim_fields) != 0) size = in.whole();
    });
    // TensorFlow itself stops at 254 dimensions.
    if (shape.dims.size() == 254) in.fail("a shape has more than 254 dimensions");
    shape.dims.push_back(size);
  }
  return unknown_rank ? Shape() : shape;
}

TfNode read_node_def(ProtoCursor& in) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {
      {1, "name", text}, {2, "op", text}, {3, "input", text}, {4, "device", text}, {5, "attr", message}};
  static constexpr ProtoField entry_fields[] = {{1, "key", text}, {2, "value", message}};
  TfNode node;
  while (const std::uint32_t field = in.next(fields)) switch (field) {
      case 1: node.name = in.name(); break;
      case 2: node.op = in.name(); break;
      case 3:
        if (node.inputs.size() == most_inputs) in.fail("a node has more than 2^20 inputs");
        node.inputs.push_back(in.name());
        break;
      case 4: node.device = in.name(); break;
      default: {
        std::pair<std::string, TfValue> entry;
        in.message([&] {
          while (const std::uint32_t part = in.next(entry_fields)) {
            if (part == 1)
              entry.first = in.name();
            else
              in.message([&] { entry.second = read_attribute_value(in); });
          }
        });
        if (node.attributes.size() == longest_list) in.fail("a node has more than 4096 attributes");
        node.attributes.push_back(std::move(entry));
      }
    }
  return node;
}

std::span<const ProtoEnumerator> tensorflow_types() {
  static const std::vector<std::string> references = [] {
    std::vector<std::string> names;
    for (const ProtoEnumerator& type : type_names) names.push_back(fmt::format("{}_REF", type.name));
    return names;
  }();
  static const std::vector<ProtoEnumerator> all = [] {
    std::vector<ProtoEnumerator> list(std::begin(type_names), std::end(type_names));
    for (std::size_t i = 0; i < references.size(); ++i)
      list.push_back({type_names[i].number + reference, references[i]});
    return list;
  }();
  return all;
}

std::int64_t tensorflow_type_number(std::string_view name) {
  for (const ProtoEnumerator& type : tensorflow_types())
    if (type.name == name) return type.number;
  return -1;
}

DType dtype_of_tensorflow(std::int64_t type, const std::string& place) {
  const std::int64_t plain = type > reference ? type - reference : type;
  const bool known =
      std::any_of(std::begin(type_names), std::end(type_names), [&](const auto& row) { return row.number == plain; });
  if (!known) throw InputError(place, "has the element type {}, which TensorFlow's types.proto does not know", type);
  return static_cast<std::size_t>(plain) < std::size(type_of_enumerator) ? type_of_enumerator[plain] : DType::unknown;
}

}  // namespace emplace::formats
