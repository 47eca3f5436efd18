// Reads a regular file from start to end in pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace emplace::formats {

class InputFile {
 public:
  // InputError if the file is missing, unreadable or not a regular file; never waits for a pipe.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  // Returns the next bytes, at most 64 KiB; empty at the end of the file.
  std::string_view read();
  // Skips the next bytes without reading them.
  void skip(std::uint64_t bytes);

 private:
  const std::string& path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  std::string buffer_;
};

}  // namespace emplace::formats
