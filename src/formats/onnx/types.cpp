#include "formats/onnx/types.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/utf8.hpp"

namespace emplace::formats {

namespace {

std::string place_of(const std::string& file, const char* what, const std::string& name) {
  return fmt::format("{}: {} {}", file, what, quote(name));
}

// In the order of TensorProto.DataType, whose 0 is undefined.
constexpr std::array types = {DType::unknown, DType::f32, DType::u8,   DType::i8,      DType::u16, DType::i16,
                              DType::i32,     DType::i64, DType::text, DType::boolean, DType::f16, DType::f64,
                              DType::u32,     DType::u64, DType::c64,  DType::c128,    DType::bf16};

DType dtype_of_onnx(std::int32_t element_type, const std::string& file, const char* what, const std::string& name) {
  if (element_type < 0 || static_cast<std::size_t>(element_type) >= types.size())
    throw InputError(place_of(file, what, name),
                     "has the element type {}; known are 0 to {} (ONNX TensorProto.DataType)", element_type,
                     types.size() - 1);
  return types[static_cast<std::size_t>(element_type)];
}

}  // namespace

std::int32_t element_type_of(DType type) {
  return static_cast<std::int32_t>(std::ranges::find(types, type) - types.begin());
}

TypeAndShape type_and_shape(const onnx::TypeProto& type, const std::string& file, const std::string& name) {
  TypeAndShape result;
  if (!(type.has_tensor_type() || type.has_sparse_tensor_type())) return result;
  const bool sparse = type.has_sparse_tensor_type();
  const auto& stored = sparse ? type.sparse_tensor_type().shape() : type.tensor_type().shape();
  const auto element = sparse ? type.sparse_tensor_type().elem_type() : type.tensor_type().elem_type();
  result.dtype = dtype_of_onnx(element, file, "tensor", name);
  result.shape.ranked = sparse ? type.sparse_tensor_type().has_shape() : type.tensor_type().has_shape();
  for (const auto& dimension : stored.dim())
    result.shape.dims.push_back(dimension.has_dim_value() ? dimension.dim_value() : Shape::unknown_dimension);
  return result;
}

TypeAndShape type_and_shape(const onnx::TensorProto& weight, const std::string& file, const std::string& name) {
  const auto place = [&] { return place_of(file, "initializer", name); };
  TypeAndShape result;
  result.dtype = dtype_of_onnx(weight.data_type(), file, "initializer", name);
  if (result.dtype == DType::unknown) throw InputError(place(), "has no element type");
  result.shape.ranked = true;
  for (const std::int64_t size : weight.dims()) {
    if (size < 0) throw InputError(place(), "has a dimension of negative size {}", size);
    result.shape.dims.push_back(size);
  }
  const auto elements = result.shape.elements();
  if (!elements || (bytes_of(result.dtype) > 0 && *elements > total_limit / bytes_of(result.dtype)))
    throw InputError(place(), "has more than 2^62 bytes ({})", result.shape.str());
  return result;
}

std::map<std::string, Attribute> attributes_of(const onnx::NodeProto& node) {
  constexpr int longest_list = 4096;
  constexpr std::size_t longest_text = 1024;
  std::map<std::string, Attribute> attributes;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    switch (attribute.type()) {
      case onnx::AttributeProto::INT: attributes[attribute.name()] = static_cast<std::int64_t>(attribute.i()); break;
      case onnx::AttributeProto::FLOAT: attributes[attribute.name()] = static_cast<double>(attribute.f()); break;
      case onnx::AttributeProto::INTS:
        if (attribute.ints_size() <= longest_list)
          attributes[attribute.name()] = std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
        break;
      case onnx::AttributeProto::STRING:
        if (attribute.s().size() <= longest_text && is_utf8(attribute.s()))
          attributes[attribute.name()] = attribute.s();
        break;
      default: break;
    }
  }
  return attributes;
}

}  // namespace emplace::formats
