// Writes messages in protobuf's binary form.
#pragma once

#include <cstdint>
#include <string>

namespace emplace::cost::protobuf_bytes {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string field(std::uint32_t number, std::uint64_t value) { return varint(number << 3) + varint(value); }
// A text or a message.
inline std::string field(std::uint32_t number, const std::string& value) {
  return varint(number << 3 | 2) + varint(value.size()) + value;
}

}  // namespace emplace::cost::protobuf_bytes
