// Messages as flat bytes: fixed-width numbers one after the other, no padding. Ranks of one job run the same binary, so
// numbers keep the machine's byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "emplace/base/error.hpp"

namespace emplace::dist {

class Packer {
 public:
  explicit Packer(std::size_t bytes = 0) { message_.reserve(bytes); }

  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    numbers(std::span<const T>(&value, 1));
  }
  template <class T>
  void numbers(std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    message_.insert(message_.end(), bytes.begin(), bytes.end());
  }
  // Writes the count, u32, then the values.
  template <class T>
  void list(const std::vector<T>& values) {
    number(static_cast<std::uint32_t>(values.size()));
    numbers(std::span<const T>(values));
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(message_); }

 private:
  std::vector<std::byte> message_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> message) : left_(message) {}

  template <class T>
  T number() {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    copy(&value, sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> numbers(std::size_t count) {
    EMPLACE_CHECK(count <= left_.size() / sizeof(T), "a message ends early");
    std::vector<T> values(count);
    copy(values.data(), count * sizeof(T));
    return values;
  }
  template <class T>
  std::vector<T> list() {
    return numbers<T>(number<std::uint32_t>());
  }
  // Reads a count of items that take at least one byte each, and checks it against the rest of the message.
  std::uint32_t count() {
    const auto value = number<std::uint32_t>();
    EMPLACE_CHECK(value <= left_.size(), "a message ends early");
    return value;
  }
  void done() const { EMPLACE_CHECK(left_.empty(), "a message has {} bytes too many", left_.size()); }

 private:
  void copy(void* to, std::size_t bytes) {
    EMPLACE_CHECK(bytes <= left_.size(), "a message ends early");
    if (bytes > 0) std::memcpy(to, left_.data(), bytes);
    left_ = left_.subspan(bytes);
  }

  std::span<const std::byte> left_;
};

}  // namespace emplace::dist
