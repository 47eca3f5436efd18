#include "formats/gguf/bytes.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"

namespace emplace::formats {

GgufBytes::GgufBytes(const std::string& path)
    : path_(path), file_(path), size_(static_cast<std::uint64_t>(file_.size())) {}

void GgufBytes::check_left(std::uint64_t bytes, std::string_view what) const {
  if (bytes > left())
    throw InputError(path_, "is damaged or not complete: {} at byte {} needs {} bytes, but {} are left", what,
                     position_, bytes, left());
}

void GgufBytes::check_room(std::uint64_t count, std::uint64_t each, std::string_view what) const {
  if (count > left() / each)
    throw InputError(path_, "is damaged: {} has {} entries of at least {} bytes at byte {}, but {} bytes are left",
                     what, count, each, position_, left());
}

void GgufBytes::take(char* into, std::uint64_t count, std::string_view what) {
  check_left(count, what);
  position_ += count;
  while (count > 0) {
    if (ahead_.empty()) ahead_ = file_.read();
    if (ahead_.empty()) throw InputError(path_, "became shorter while it was read");
    const std::uint64_t some = std::min<std::uint64_t>(count, ahead_.size());
    std::memcpy(into, ahead_.data(), some);
    into += some;
    count -= some;
    ahead_.remove_prefix(some);
  }
}

void GgufBytes::skip(std::uint64_t bytes, std::string_view what) {
  check_left(bytes, what);
  position_ += bytes;
  const std::uint64_t some = std::min<std::uint64_t>(bytes, ahead_.size());
  ahead_.remove_prefix(some);
  file_.skip(bytes - some);
}

std::string GgufBytes::text(std::string_view what, std::uint64_t most) {
  const auto length = number<std::uint64_t>(what);
  check_left(length, what);
  if (length > most)
    throw InputError(path_, "is damaged: {} at byte {} has {} bytes; at most {} are read", what, position_, length,
                     most);
  std::string text(length, '\0');
  take(text.data(), length, what);
  return text;
}

std::string GgufBytes::short_text(std::string_view what, std::uint64_t most) {
  const auto length = number<std::uint64_t>(what);
  std::string text;
  if (length > most) {
    skip(length, what);
    return text;
  }
  check_left(length, what);
  text.resize(length);
  take(text.data(), length, what);
  return text;
}

}  // namespace emplace::formats
