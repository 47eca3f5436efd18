// Reads files of a zip archive. The only file that includes libzip's header is archive.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct zip;

namespace emplace::formats {

class ZipArchive {
 public:
  // InputError if the file is no zip archive, or if a name in it leads out of the archive.
  explicit ZipArchive(const std::string& path);

  // Names of the files in it, in its order.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // The content of a file. InputError if it is larger than `most` bytes, grows out of all proportion, is encrypted,
  // compressed by an unknown method, or damaged: its length or its checksum differs from what the archive says.
  [[nodiscard]] std::string read(const std::string& name, std::uint64_t most) const;

 private:
  struct Discard {
    void operator()(struct zip* archive) const;
  };
  std::string path_;
  std::unique_ptr<struct zip, Discard> archive_;
  std::vector<std::string> names_;
};

}  // namespace emplace::formats
