#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "machine/parts.hpp"

namespace emplace::machine {

std::span<const std::string> machine_op_classes() {
  static const std::vector<std::string> names = {
      "matmul",  "convolution", "depthwise", "recurrent", "elementwise", "normalisation", "reduction",
      "pooling", "movement",    "embedding", "update",    "free",        "other"};
  return names;
}

std::span<const std::string> machine_dtypes() {
  static const std::vector<std::string> names = {"f16", "bf16", "f32", "f64", "i8",   "u8",  "i16", "u16",
                                                 "i32", "u32",  "i64", "u64", "bool", "c64", "c128"};
  return names;
}

double positive(const ConfigTable& table, std::string_view key) {
  const double value = table.number(key);
  if (!(value > 0)) throw InputError(table.place_of(key), "{} must be above zero, got {}", quote(key), value);
  return value;
}

double not_negative(const ConfigTable& table, std::string_view key) {
  const double value = table.number(key);
  if (!(value >= 0)) throw InputError(table.place_of(key), "{} must be zero or more, got {}", quote(key), value);
  return value;
}

std::string checked_name(const ConfigTable& table, std::string_view key, const char* what) {
  constexpr std::size_t longest = 100;
  std::string name = table.text(key);
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(":_-./").find(c) != std::string_view::npos;
  };
  if (name.empty() || name.size() > longest || !std::all_of(name.begin(), name.end(), fits))
    throw InputError(table.place_of(key),
                     "the name of a {} must be 1 to {} letters, digits or any of : _ - . / (no blanks), got {}", what,
                     longest, quote(name));
  return name;
}

}  // namespace emplace::machine
