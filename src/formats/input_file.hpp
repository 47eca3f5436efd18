// Reads a regular file, or a text in memory, from start to end in pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace emplace::formats {

class InputFile {
 public:
  // InputError if the file is missing, unreadable or not a regular file; never waits for a pipe.
  explicit InputFile(const std::string& path);
  // The file's content, which was read already and must outlive this. `path` is for messages.
  InputFile(const std::string& path, std::string_view content);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  // Returns the next bytes, at most 64 KiB of a file; empty at its end.
  std::string_view read();
  // Skips the next bytes without reading them.
  void skip(std::uint64_t bytes);

 private:
  const std::string& path_;
  int descriptor_ = -1;       // -1: in memory
  std::string_view content_;  // what is left of it
  std::int64_t size_ = 0;
  std::string buffer_;
};

}  // namespace emplace::formats
