// Zip archives whose files are stored as they are, in memory.
#pragma once

#include <boost/crc.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace emplace::test {

struct ZipOptions {
  std::uint32_t stated_size = 0;  // of every file; 0: as it is
  std::uint16_t method = 0;       // of compression; 0: stored
  bool right_checksum = true;
};

// The archive with these files (name, content), in PKZIP's format: local headers with the contents, then the directory.
inline std::string zip_text(const std::vector<std::pair<std::string, std::string>>& files,
                            const ZipOptions& options = {}) {
  const auto number = [](std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
    return text;
  };
  std::string archive, directory;
  for (const auto& [name, content] : files) {
    boost::crc_32_type checksum;
    checksum.process_bytes(content.data(), content.size());
    const std::uint32_t crc = checksum.checksum() + (options.right_checksum ? 0U : 1U);
    const std::uint64_t size = options.stated_size != 0 ? options.stated_size : content.size();
    // Version 2.0, no flags, the method, no time, 1980-01-01, checksum, sizes, length of the name, no extra field.
    const std::string facts = number(20, 2) + number(0, 2) + number(options.method, 2) + number(0, 2) + number(33, 2) +
                              number(crc, 4) + number(content.size(), 4) + number(size, 4) + number(name.size(), 2) +
                              number(0, 2);
    directory += "PK\x01\x02" + number(20, 2) + facts + number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
                 number(archive.size(), 4) + name;
    archive += "PK\x03\x04" + facts + name + content;
  }
  const std::string end = "PK\x05\x06" + number(0, 2) + number(0, 2) + number(files.size(), 2) +
                          number(files.size(), 2) + number(directory.size(), 4) + number(archive.size(), 4) +
                          number(0, 2);
  return archive + directory + end;
}

}  // namespace emplace::test
