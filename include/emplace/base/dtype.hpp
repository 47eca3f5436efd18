// Element types of tensors.
#pragma once

#include <cstdint>

namespace emplace {

enum class DType : std::uint8_t {
  unknown,
  f16,
  bf16,
  f32,
  f64,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  boolean,
  text,
  c64,
  c128
};
// Bytes of one element; 0 for unknown and text.
[[nodiscard]] std::int64_t bytes_of(DType type);
[[nodiscard]] const char* name_of(DType type);

}  // namespace emplace
