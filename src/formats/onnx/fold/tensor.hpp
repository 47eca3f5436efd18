// Small tensors whose elements are known, all or in part, while shapes are inferred.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace emplace::formats {

struct FoldedElement {
  bool known = false;
  std::int64_t whole = 0;  // of tensors of whole numbers and booleans (0 or 1)
  double real = 0;         // of tensors of floating-point numbers

  static FoldedElement of_whole(std::int64_t value) { return {true, value, 0}; }
  static FoldedElement of_real(double value) { return {true, 0, value}; }
};

using FoldedDims = std::vector<std::int64_t>;

struct FoldedTensor {
  std::int32_t type = onnx::TensorProto::INT64;  // one for which is_folded_type holds
  FoldedDims dims;
  std::vector<FoldedElement> elements;  // the last dimension varies fastest

  [[nodiscard]] bool is_real() const;
  // All elements are known, or at least one is.
  [[nodiscard]] bool is_known() const;
  [[nodiscard]] bool has_known() const;
};

// No shape has more elements; masks and tables of indices, from which a shape may follow, seldom have.
inline constexpr std::size_t most_folded_elements = std::size_t{1} << 16;

// Booleans, whole numbers, float and double; FoldedTensor has no others.
bool is_folded_type(std::int32_t type);
bool is_real_type(std::int32_t type);

// The number of elements; nullopt if a size is negative, the number is above `most_folded_elements`, or there are
// more than 64 dimensions.
std::optional<std::size_t> folded_count(const FoldedDims& dims);
// A tensor of unknown elements; nullopt if it would be too large.
std::optional<FoldedTensor> unknown_tensor(std::int32_t type, FoldedDims dims);

// nullopt if the tensor is too large, has another type, or its data is not stored in it or does not fit its sizes.
std::optional<FoldedTensor> folded_of(const onnx::TensorProto& tensor);
// All elements must be known.
onnx::TensorProto proto_of(const FoldedTensor& tensor);

}  // namespace emplace::formats
