#include "formats/constant_values.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats {

namespace {

void read_bytes(const InputFile& file, const std::string& path, std::int64_t offset, std::size_t count,
                std::string& into) {
  std::string data(count, '\0');
  ssize_t got = -1;
  do got = ::pread(file.descriptor(), data.data(), count, offset);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(count))
    throw InputError(path, "cannot be read: {}", got < 0 ? std::strerror(errno) : "it was cut while it was read");
  into += data;
}

}  // namespace

std::vector<std::int64_t> numbers_in(std::string_view data, std::size_t width) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at < data.size(); at += width) {
    std::uint64_t bits = 0;
    for (std::size_t k = width; k-- > 0;) bits = bits << 8 | static_cast<unsigned char>(data[at + k]);
    numbers.push_back(width == 4 ? static_cast<std::int32_t>(bits) : static_cast<std::int64_t>(bits));
  }
  return numbers;
}

bool is_small_whole(DType dtype, const Shape& shape) {
  const auto count = shape.elements();
  return (dtype == DType::i32 || dtype == DType::i64) && count && *count >= 1 && *count <= most_constant_numbers;
}

bool WeightFiles::open() {
  if (is_open_) return *is_open_;
  is_open_ = !paths_.empty() && std::ranges::all_of(paths_, file_exists);
  if (*is_open_)
    for (const std::string& path : paths_) files_.push_back(std::make_unique<InputFile>(path));
  return *is_open_;
}

std::optional<std::vector<std::int64_t>> WeightFiles::wholes(std::int64_t offset, DType dtype, const Shape& shape,
                                                             const std::string& constant) {
  if (!is_small_whole(dtype, shape) || offset < 0 || !open()) return std::nullopt;
  const auto wanted = static_cast<std::size_t>(*shape.elements() * bytes_of(dtype));
  std::string data;
  for (std::size_t i = 0; i < files_.size() && data.size() < wanted; ++i) {
    const std::int64_t left = files_[i]->size() - offset;
    if (left > 0) {
      const std::size_t count = std::min(wanted - data.size(), static_cast<std::size_t>(left));
      read_bytes(*files_[i], paths_[i], offset, count, data);
      offset += static_cast<std::int64_t>(count);
    }
    offset -= files_[i]->size();
  }
  if (data.size() == wanted) return numbers_in(data, static_cast<std::size_t>(bytes_of(dtype)));
  if (!has_warned_)
    log_warning("{}: ends before the constant {}, so that sizes which follow from such values are not known",
                paths_.back(), quote(constant));
  has_warned_ = true;
  return std::nullopt;
}

}  // namespace emplace::formats
