#include "emplace/base/types.hpp"

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

}  // namespace

std::int64_t bytes_of(DType type) { return row_of(type).bytes; }
const char* name_of(DType type) { return row_of(type).name; }

bool is_floating(DType type) {
  return type == DType::f16 || type == DType::bf16 || type == DType::f32 || type == DType::f64;
}

bool is_complex(DType type) { return type == DType::c64 || type == DType::c128; }

}  // namespace emplace
