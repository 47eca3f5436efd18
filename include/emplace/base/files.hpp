// Files: bounded reads, writes that a crash cannot tear.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace emplace {

// The whole file; InputError if it is missing, unreadable, not a regular file, or larger than `limit` bytes.
std::string read_file(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 31);

// Why a file of this path could not be opened or looked at, where `error` is the errno of that: the system's reason,
// and the nearest name in its folder (among the first 1000) where it is missing.
std::string why_unreadable(const std::string& path, int error);

// A file that appears only when it is complete: finish() flushes what was written to a temporary name beside it to
// disk, renames that, and flushes the folder; without finish() nothing stays. Symbolic links are followed, so that a
// link stays one. What is there and is no regular file (a pipe, a terminal, a device), and what is our own standard
// output, is written to directly. EnvironmentError with the system's reason.
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  void write(std::string_view text);
  void finish();

 private:
  [[noreturn]] void fail(const char* what);
  void close_and_remove();

  std::string path_;       // as asked for
  std::string target_;     // behind links
  std::string temporary_;  // empty where written to directly
  int fd_ = -1;
};

void write_file(const std::string& path, std::string_view content);

// fsync of a file or folder that somebody else wrote; then rename(from, to) and fsync of the folder.
void flush_to_disk(const std::string& path);
void replace_file(const std::string& from, const std::string& to);
// Gives a file a second name, at once in place of what had that name; false where the file system cannot.
bool add_name(const std::string& file, const std::string& name);

void make_folder(const std::string& path);
bool file_exists(const std::string& path);
std::string parent_folder(const std::string& path);

// The path from the root, if there is such a file; else as it is.
std::string absolute_path(const std::string& path);

}  // namespace emplace
