// Protobuf's wire format by hand: https://protobuf.dev/programming-guides/encoding.
#pragma once

#include <cstdint>
#include <string>

namespace emplace::proto {

inline std::string varint(std::int64_t number) {
  auto value = static_cast<std::uint64_t>(number);
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string field(int number, std::int64_t value) { return varint(number << 3) + varint(value); }
inline std::string field(int number, int value) { return field(number, std::int64_t{value}); }
inline std::string field(int number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(static_cast<std::int64_t>(bytes.size())) + bytes;
}
inline std::string field(int number, const char* text) { return field(number, std::string(text)); }

}  // namespace emplace::proto
