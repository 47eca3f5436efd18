// Files: bounded reads, writes that a crash cannot tear.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace emplace {

// The whole file; InputError if it is missing, unreadable, not a regular file, or larger than `limit` bytes.
std::string read_file(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 31);

// Writes to a temporary name beside `path`, flushes it to disk, renames it over `path`, and flushes the folder.
void write_file(const std::string& path, std::string_view content);

// fsync of a file or folder that somebody else wrote; then rename(from, to) and fsync of the folder.
void flush_to_disk(const std::string& path);
void replace_file(const std::string& from, const std::string& to);

void make_folder(const std::string& path);
bool file_exists(const std::string& path);
std::string parent_folder(const std::string& path);

}  // namespace emplace
