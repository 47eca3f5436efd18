#include "language/weight_type.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::language {

namespace {

// ggml/src/ggml.c (type_traits) and ggml-common.h (the structs of blocks).
constexpr WeightType types[] = {
    {"F32", 0, 1, 4},
    {"F16", 1, 1, 2},
    {"Q4_0", 2, 32, 18},
    {"Q4_1", 3, 32, 20},
    {"Q4_2", 4, 16, 10, true},
    {"Q4_3", 5, 16, 12, true},
    {"Q5_0", 6, 32, 22},
    {"Q5_1", 7, 32, 24},
    {"Q8_0", 8, 32, 34},
    {"Q8_1", 9, 32, 36},
    {"Q2_K", 10, 256, 84},
    {"Q3_K", 11, 256, 110},
    {"Q4_K", 12, 256, 144},
    {"Q5_K", 13, 256, 176},
    {"Q6_K", 14, 256, 210},
    {"Q8_K", 15, 256, 292},
    {"IQ2_XXS", 16, 256, 66},
    {"IQ2_XS", 17, 256, 74},
    {"IQ3_XXS", 18, 256, 98},
    {"IQ1_S", 19, 256, 50},
    {"IQ4_NL", 20, 32, 18},
    {"IQ3_S", 21, 256, 110},
    {"IQ2_S", 22, 256, 82},
    {"IQ4_XS", 23, 256, 136},
    {"I8", 24, 1, 1},
    {"I16", 25, 1, 2},
    {"I32", 26, 1, 4},
    {"I64", 27, 1, 8},
    {"F64", 28, 1, 8},
    {"IQ1_M", 29, 256, 56},
    {"BF16", 30, 1, 2},
    {"Q4_0_4_4", 31, 32, 18, true},
    {"Q4_0_4_8", 32, 32, 18, true},
    {"Q4_0_8_8", 33, 32, 18, true},
    {"TQ1_0", 34, 256, 54},
    {"TQ2_0", 35, 256, 66},
    {"IQ4_NL_4_4", 36, 32, 18, true},
    {"IQ4_NL_4_8", 37, 32, 18, true},
    {"IQ4_NL_8_8", 38, 32, 18, true},
    {"MXFP4", 39, 32, 17},
    {"NVFP4", 40, 64, 36},
    {"FP8", -1, 1, 1},
    {"U8", -1, 1, 1},
    // 4 bits with a scale and a zero point for 128 values, as GPTQ and AWQ store them.
    {"INT4", -1, 128, 68},
    // 8 bits with a scale of 16 bits for 128 values.
    {"INT8", -1, 128, 130},
    // bitsandbytes: 4 bits, and an absolute maximum of 32 bits for 64 values.
    {"NF4", -1, 64, 36},
};

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::toupper(static_cast<unsigned char>(x)) == std::toupper(static_cast<unsigned char>(y));
  });
}

}  // namespace

std::span<const WeightType> weight_types() { return types; }

const WeightType* find_weight_type(std::string_view name) {
  const auto found = std::ranges::find_if(types, [&](const WeightType& type) { return same_letters(type.name, name); });
  return found == std::end(types) ? nullptr : &*found;
}

const WeightType* find_ggml_type(std::uint32_t number) {
  const auto found = std::ranges::find_if(
      types, [&](const WeightType& type) { return type.ggml == static_cast<std::int64_t>(number); });
  return found == std::end(types) ? nullptr : &*found;
}

const WeightType& weight_type(std::string_view name, const std::string& place) {
  const WeightType* found = find_weight_type(name);
  if (found != nullptr && !found->removed) return *found;
  std::vector<std::string> known;
  for (const WeightType& type : types)
    if (!type.removed) known.emplace_back(type.name);
  throw InputError(place, "{} is no type of weights; known: {}", quote(name), join(known, ", "));
}

bool is_quantised(const WeightType& type) { return type.block > 1 || type.name == "FP8"; }

std::optional<Bytes> bytes_of_rows(const WeightType& type, std::int64_t row, std::int64_t rows) {
  const std::int64_t blocks = row / type.block + (row % type.block != 0 ? 1 : 0);
  Bytes bytes = 0;
  if (__builtin_mul_overflow(blocks, type.block_bytes, &bytes) || __builtin_mul_overflow(bytes, rows, &bytes) ||
      bytes > total_limit)
    return std::nullopt;
  return bytes;
}

}  // namespace emplace::language
