// Bytes of ggml's types.
#include <gtest/gtest.h>

#include <set>

#include "emplace/base/error.hpp"
#include "language/weight_type.hpp"

namespace emplace::language::weight_type_test {
namespace {

// Bits for each weight as llama.cpp's documentation of quantisation lists them.
TEST(WeightType, BitsOfAWeightAreThoseOfLlamaCpp) {
  const std::pair<const char*, double> bits[] = {
      {"F16", 16},        {"BF16", 16},      {"Q4_0", 4.5},       {"Q4_1", 5},       {"Q5_0", 5.5},
      {"Q5_1", 6},        {"Q8_0", 8.5},     {"Q2_K", 2.625},     {"Q3_K", 3.4375},  {"Q4_K", 4.5},
      {"Q5_K", 5.5},      {"Q6_K", 6.5625},  {"IQ1_S", 1.5625},   {"IQ1_M", 1.75},   {"IQ2_XXS", 2.0625},
      {"IQ2_XS", 2.3125}, {"IQ2_S", 2.5625}, {"IQ3_XXS", 3.0625}, {"IQ3_S", 3.4375}, {"IQ4_XS", 4.25},
      {"IQ4_NL", 4.5},    {"TQ1_0", 1.6875}, {"TQ2_0", 2.0625},   {"MXFP4", 4.25}};
  for (const auto& [name, expected] : bits) {
    const WeightType& type = weight_type(name, "here");
    EXPECT_EQ(8.0 * static_cast<double>(type.block_bytes) / static_cast<double>(type.block), expected) << name;
  }
}

TEST(WeightType, NumbersAndNamesAreUnique) {
  std::set<std::int32_t> numbers;
  std::set<std::string_view> names;
  for (const WeightType& type : weight_types()) {
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    if (type.ggml >= 0) {
      EXPECT_TRUE(numbers.insert(type.ggml).second) << type.name;
      EXPECT_EQ(find_ggml_type(static_cast<std::uint32_t>(type.ggml)), &type);
    }
  }
  EXPECT_EQ(find_ggml_type(12)->name, "Q4_K");
  EXPECT_EQ(find_ggml_type(1000), nullptr);
}

TEST(WeightType, APartlyUsedBlockTakesAWholeOne) {
  const WeightType& type = weight_type("q8_0", "here");  // 32 values in 34 bytes
  EXPECT_EQ(bytes_of_rows(type, 33, 2), 2 * 2 * 34);
  EXPECT_EQ(bytes_of_rows(type, std::int64_t{1} << 60, std::int64_t{1} << 60), std::nullopt);
}

TEST(WeightType, UnknownAndRemovedNamesAreRefused) {
  EXPECT_THROW(static_cast<void>(weight_type("Q9", "here")), InputError);
  EXPECT_THROW(static_cast<void>(weight_type("Q4_2", "here")), InputError);
}

}  // namespace
}  // namespace emplace::language::weight_type_test
