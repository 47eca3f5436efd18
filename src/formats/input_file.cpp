#include "formats/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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

InputFile::~InputFile() { ::close(descriptor_); }

std::string_view InputFile::read() {
  buffer_.resize(std::size_t{64} << 10);
  ssize_t got = -1;
  do got = ::read(descriptor_, buffer_.data(), buffer_.size());
  while (got < 0 && errno == EINTR);
  if (got < 0) throw InputError(path_, "cannot be read: {}", std::strerror(errno));
  return std::string_view(buffer_).substr(0, static_cast<std::size_t>(got));
}

void InputFile::skip(std::uint64_t bytes) {
  if (bytes > 0 && ::lseek(descriptor_, static_cast<off_t>(bytes), SEEK_CUR) < 0)
    throw InputError(path_, "cannot be read: {}", std::strerror(errno));
}

}  // namespace emplace::formats
