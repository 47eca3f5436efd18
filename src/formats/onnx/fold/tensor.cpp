#include "formats/onnx/fold/tensor.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

namespace emplace::formats {

namespace {

// Elements of raw_data, which is little-endian.
template <class Number>
bool read_raw(const std::string& raw, FoldedTensor& tensor) {
  if (raw.size() != tensor.elements.size() * sizeof(Number)) return false;
  for (std::size_t i = 0; i < tensor.elements.size(); ++i) {
    Number number{};
    std::memcpy(&number, raw.data() + i * sizeof(Number), sizeof(Number));
    if constexpr (std::is_floating_point_v<Number>)
      tensor.elements[i] = FoldedElement::of_real(static_cast<double>(number));
    else
      tensor.elements[i] = FoldedElement::of_whole(static_cast<std::int64_t>(number));
  }
  return true;
}

bool read_raw_elements(const std::string& raw, FoldedTensor& tensor) {
  switch (tensor.type) {
    case onnx::TensorProto::BOOL:
    case onnx::TensorProto::UINT8: return read_raw<std::uint8_t>(raw, tensor);
    case onnx::TensorProto::INT8: return read_raw<std::int8_t>(raw, tensor);
    case onnx::TensorProto::UINT16: return read_raw<std::uint16_t>(raw, tensor);
    case onnx::TensorProto::INT16: return read_raw<std::int16_t>(raw, tensor);
    case onnx::TensorProto::UINT32: return read_raw<std::uint32_t>(raw, tensor);
    case onnx::TensorProto::INT32: return read_raw<std::int32_t>(raw, tensor);
    case onnx::TensorProto::INT64: return read_raw<std::int64_t>(raw, tensor);
    case onnx::TensorProto::FLOAT: return read_raw<float>(raw, tensor);
    case onnx::TensorProto::DOUBLE: return read_raw<double>(raw, tensor);
    default: return false;
  }
}

template <class List>
bool read_list(const List& list, FoldedTensor& tensor) {
  if (static_cast<std::size_t>(list.size()) != tensor.elements.size()) return false;
  for (int i = 0; i < list.size(); ++i) {
    FoldedElement& element = tensor.elements[static_cast<std::size_t>(i)];
    element = tensor.is_real() ? FoldedElement::of_real(static_cast<double>(list.Get(i)))
                               : FoldedElement::of_whole(static_cast<std::int64_t>(list.Get(i)));
  }
  return true;
}

bool read_listed_elements(const onnx::TensorProto& from, FoldedTensor& tensor) {
  switch (tensor.type) {
    case onnx::TensorProto::INT64: return read_list(from.int64_data(), tensor);
    case onnx::TensorProto::UINT32: return read_list(from.uint64_data(), tensor);
    case onnx::TensorProto::FLOAT: return read_list(from.float_data(), tensor);
    case onnx::TensorProto::DOUBLE: return read_list(from.double_data(), tensor);
    default: return read_list(from.int32_data(), tensor);
  }
}

}  // namespace

bool is_real_type(std::int32_t type) { return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::DOUBLE; }

bool is_folded_type(std::int32_t type) {
  switch (type) {
    case onnx::TensorProto::BOOL:
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::INT8:
    case onnx::TensorProto::UINT16:
    case onnx::TensorProto::INT16:
    case onnx::TensorProto::UINT32:
    case onnx::TensorProto::INT32:
    case onnx::TensorProto::INT64: return true;
    default: return is_real_type(type);
  }
}

bool FoldedTensor::is_real() const { return is_real_type(type); }
bool FoldedTensor::is_known() const { return std::ranges::all_of(elements, &FoldedElement::known); }
bool FoldedTensor::has_known() const { return std::ranges::any_of(elements, &FoldedElement::known); }

std::optional<std::size_t> folded_count(const FoldedDims& dims) {
  constexpr std::size_t most_axes = 64;
  if (dims.size() > most_axes) return std::nullopt;
  // A dimension of size 0 must not hide a negative one, nor a product that is too large before it.
  std::size_t count = 1;
  for (const std::int64_t size : dims) {
    if (size < 0 || static_cast<std::uint64_t>(size) > most_folded_elements) return std::nullopt;
    count *= static_cast<std::size_t>(size);
    if (count > most_folded_elements) return std::nullopt;
  }
  return count;
}

std::optional<FoldedTensor> unknown_tensor(std::int32_t type, FoldedDims dims) {
  const auto count = folded_count(dims);
  if (!count) return std::nullopt;
  return FoldedTensor{type, std::move(dims), std::vector<FoldedElement>(*count)};
}

std::optional<FoldedTensor> folded_of(const onnx::TensorProto& tensor) {
  if (!is_folded_type(tensor.data_type()) || tensor.data_location() == onnx::TensorProto::EXTERNAL) return std::nullopt;
  auto folded = unknown_tensor(tensor.data_type(), FoldedDims(tensor.dims().begin(), tensor.dims().end()));
  if (!folded) return std::nullopt;
  const bool read =
      tensor.has_raw_data() ? read_raw_elements(tensor.raw_data(), *folded) : read_listed_elements(tensor, *folded);
  return read ? std::move(folded) : std::nullopt;
}

onnx::TensorProto proto_of(const FoldedTensor& tensor) {
  onnx::TensorProto proto;
  proto.set_data_type(tensor.type);
  for (const std::int64_t size : tensor.dims) proto.add_dims(size);
  for (const FoldedElement& element : tensor.elements) {
    switch (tensor.type) {
      case onnx::TensorProto::INT64: proto.add_int64_data(element.whole); break;
      case onnx::TensorProto::UINT32: proto.add_uint64_data(static_cast<std::uint64_t>(element.whole)); break;
      case onnx::TensorProto::FLOAT: proto.add_float_data(static_cast<float>(element.real)); break;
      case onnx::TensorProto::DOUBLE: proto.add_double_data(element.real); break;
      default: proto.add_int32_data(static_cast<std::int32_t>(element.whole)); break;
    }
  }
  return proto;
}

}  // namespace emplace::formats
