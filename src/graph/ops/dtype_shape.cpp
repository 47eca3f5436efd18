#include <fmt/core.h>

#include <algorithm>

#include "emplace/graph/graph.hpp"

namespace emplace {

namespace {

struct DTypeRow {
  DType type;
  const char* name;
  std::int64_t bytes;
};

constexpr DTypeRow dtype_rows[] = {
    {DType::unknown, "unknown", 0}, {DType::f16, "f16", 2},      {DType::bf16, "bf16", 2}, {DType::f32, "f32", 4},
    {DType::f64, "f64", 8},         {DType::i8, "i8", 1},        {DType::u8, "u8", 1},     {DType::i16, "i16", 2},
    {DType::u16, "u16", 2},         {DType::i32, "i32", 4},      {DType::u32, "u32", 4},   {DType::i64, "i64", 8},
    {DType::u64, "u64", 8},         {DType::boolean, "bool", 1}, {DType::text, "text", 0}, {DType::c64, "c64", 8},
    {DType::c128, "c128", 16},
};

const DTypeRow& row_of(DType type) {
  for (const DTypeRow& row : dtype_rows)
    if (row.type == type) return row;
  return dtype_rows[0];
}

std::optional<Bytes> bytes_of(DType dtype, const Shape& shape) {
  const std::int64_t size = bytes_of(dtype);
  const auto elements = shape.elements();
  if (size == 0 || !elements || *elements > total_limit / size) return std::nullopt;
  return *elements * size;
}

}  // namespace

std::int64_t bytes_of(DType type) { return row_of(type).bytes; }
const char* name_of(DType type) { return row_of(type).name; }

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
std::optional<Bytes> GraphParameter::bytes() const { return bytes_of(dtype, shape); }

}  // namespace emplace
