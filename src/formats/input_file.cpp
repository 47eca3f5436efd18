#include "formats/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats {

InputFile::InputFile(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  struct stat info {};
  const bool known = descriptor_ >= 0 && ::fstat(descriptor_, &info) == 0;
  const int error = errno;
  if (known && S_ISREG(info.st_mode)) {
    size_ = info.st_size;
    return;
  }
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!known) throw InputError(path, "cannot be read: {}", why_unreadable(path, error));
  throw InputError(path, "is not a regular file");
}

InputFile::InputFile(const std::string& path, std::string_view content)
    : path_(path), content_(content), size_(static_cast<std::int64_t>(content.size())) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string_view InputFile::read() {
  if (descriptor_ < 0) return std::exchange(content_, {});
  buffer_.resize(std::size_t{64} << 10);
  ssize_t got = -1;
  do got = ::read(descriptor_, buffer_.data(), buffer_.size());
  while (got < 0 && errno == EINTR);
  if (got < 0) throw InputError(path_, "cannot be read: {}", std::strerror(errno));
  return std::string_view(buffer_).substr(0, static_cast<std::size_t>(got));
}

void InputFile::skip(std::uint64_t bytes) {
  if (descriptor_ < 0) return content_.remove_prefix(std::min<std::uint64_t>(bytes, content_.size()));
  if (bytes > 0 && ::lseek(descriptor_, static_cast<off_t>(bytes), SEEK_CUR) < 0)
    throw InputError(path_, "cannot be read: {}", std::strerror(errno));
}

}  // namespace emplace::formats
