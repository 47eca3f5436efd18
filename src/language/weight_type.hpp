// The types in which weights and KV caches are stored: ggml's types with their block sizes, and the few further ones
// that Hugging Face models use. A quantised type stores blocks of values with common scales.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "emplace/base/types.hpp"

namespace emplace::language {

struct WeightType {
  std::string_view name;  // as llama.cpp prints it, in capitals: "Q4_K"
  std::int32_t ggml;      // number in GGUF files; -1: not a type of ggml
  std::int64_t block;     // values in a block
  std::int64_t block_bytes;
  bool removed = false;  // a number that ggml no longer has
};

[[nodiscard]] std::span<const WeightType> weight_types();
// nullptr if there is no such type. Names are compared without regard to case.
[[nodiscard]] const WeightType* find_weight_type(std::string_view name);
[[nodiscard]] const WeightType* find_ggml_type(std::uint32_t number);
// As find_weight_type; InputError with `place`, which lists the known names, if there is no such type.
[[nodiscard]] const WeightType& weight_type(std::string_view name, const std::string& place);
[[nodiscard]] bool is_quantised(const WeightType& type);

// Bytes of `rows` rows of `row` values, of which the last block of each may be partly used; nullopt above 2^62.
[[nodiscard]] std::optional<Bytes> bytes_of_rows(const WeightType& type, std::int64_t row, std::int64_t rows);

}  // namespace emplace::language
