// Reads a GGUF file from start to end: numbers in little-endian order and texts, all checked against what is left of
// it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "formats/input_file.hpp"

namespace emplace::formats {

class GgufBytes {
 public:
  // `path` must outlive this.
  explicit GgufBytes(const std::string& path);

  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] std::uint64_t left() const { return size_ - position_; }

  // `what` is for the message if the file ends before.
  template <class Number>
  Number number(std::string_view what) {
    static_assert(std::is_trivially_copyable_v<Number> && std::endian::native == std::endian::little);
    char bytes[sizeof(Number)];
    take(bytes, sizeof(Number), what);
    Number value;
    std::memcpy(&value, bytes, sizeof(Number));
    return value;
  }
  // A length and as many bytes. InputError if there are more than `most`.
  std::string text(std::string_view what, std::uint64_t most);
  // The same, but a text of more than `most` bytes is skipped and given as "".
  std::string short_text(std::string_view what, std::uint64_t most);
  void skip(std::uint64_t bytes, std::string_view what);
  // InputError unless `count` items of at least `each` bytes can follow.
  void check_room(std::uint64_t count, std::uint64_t each, std::string_view what) const;

 private:
  void take(char* into, std::uint64_t count, std::string_view what);
  void check_left(std::uint64_t bytes, std::string_view what) const;

  const std::string& path_;
  InputFile file_;
  std::uint64_t size_, position_ = 0;
  std::string_view ahead_;  // read from the file, but not yet taken
};

}  // namespace emplace::formats
