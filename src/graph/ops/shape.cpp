#include <fmt/core.h>

#include <algorithm>

#include "emplace/graph/graph.hpp"

namespace emplace {

namespace {

std::optional<Bytes> bytes_of(DType dtype, const Shape& shape) {
  const std::int64_t size = bytes_of(dtype);
  const auto elements = shape.elements();
  if (size == 0 || !elements || *elements > total_limit / size) return std::nullopt;
  return *elements * size;
}

}  // namespace

bool Shape::is_static() const {
  return ranked && std::all_of(dims.begin(), dims.end(), [](std::int64_t dim) { return dim >= 0; });
}

std::optional<std::int64_t> Shape::elements() const {
  if (!is_static()) return std::nullopt;
  // A zero anywhere makes the product zero, however large the other dimensions are.
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) {
    if (dim > total_limit / product) return std::nullopt;
    product *= dim;
  }
  return product;
}

std::string Shape::str() const {
  if (!ranked) return "unknown rank";
  if (dims.empty()) return "scalar";
  std::string text;
  for (const std::int64_t dim : dims) {
    if (!text.empty()) text += 'x';
    text += dim < 0 ? std::string("?") : fmt::format("{}", dim);
  }
  return text;
}

std::optional<Bytes> GraphTensor::bytes() const { return bytes_of(dtype, shape); }
std::optional<Bytes> GraphParameter::bytes() const {
  return stored_bytes > 0 ? std::optional(stored_bytes) : bytes_of(dtype, shape);
}

}  // namespace emplace
