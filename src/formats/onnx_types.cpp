#include "onnx_types.hpp"

#include <array>

#include "emplace/base/error.hpp"
#include "utf8.hpp"

namespace emplace {

DType dtype_of_onnx(std::int32_t element_type, const std::string& place) {
  // In the order of TensorProto.DataType.
  constexpr std::array types = {DType::unknown, DType::f32, DType::u8,   DType::i8,      DType::u16, DType::i16,
                                DType::i32,     DType::i64, DType::text, DType::boolean, DType::f16, DType::f64,
                                DType::u32,     DType::u64, DType::c64,  DType::c128,    DType::bf16};
  if (element_type < 0 || static_cast<std::size_t>(element_type) >= types.size())
    throw InputError(place, "has the element type {}; known are 0 to {} (ONNX TensorProto.DataType)", element_type,
                     types.size() - 1);
  return types[static_cast<std::size_t>(element_type)];
}

TypeAndShape type_and_shape(const onnx::TypeProto* type, const std::string& place) {
  TypeAndShape result;
  if (type == nullptr || !(type->has_tensor_type() || type->has_sparse_tensor_type())) return result;
  const bool sparse = type->has_sparse_tensor_type();
  const auto& stored = sparse ? type->sparse_tensor_type().shape() : type->tensor_type().shape();
  result.dtype =
      dtype_of_onnx(sparse ? type->sparse_tensor_type().elem_type() : type->tensor_type().elem_type(), place);
  result.shape.ranked = sparse ? type->sparse_tensor_type().has_shape() : type->tensor_type().has_shape();
  for (const auto& dimension : stored.dim())
    result.shape.dims.push_back(dimension.has_dim_value() ? dimension.dim_value() : Shape::unknown_dimension);
  return result;
}

TypeAndShape type_and_shape(const onnx::TensorProto& tensor, const std::string& place) {
  TypeAndShape result;
  result.dtype = dtype_of_onnx(tensor.data_type(), place);
  if (result.dtype == DType::unknown) throw InputError(place, "has no element type");
  result.shape.ranked = true;
  for (const std::int64_t size : tensor.dims()) {
    if (size < 0) throw InputError(place, "has a dimension of negative size {}", size);
    result.shape.dims.push_back(size);
  }
  const auto elements = result.shape.elements();
  if (!elements || (bytes_of(result.dtype) > 0 && *elements > total_limit / bytes_of(result.dtype)))
    throw InputError(place, "has more than 2^62 bytes ({})", result.shape.str());
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

}  // namespace emplace
