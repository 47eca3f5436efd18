// Reading files up to a size limit, and writing files that a crash cannot leave half written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace emplace {

// The whole file; InputError if it is missing, unreadable, not a regular file, or larger than `limit` bytes.
std::string read_file(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 31);

// Why the file at `path` could not be opened or examined; `error` is the errno of the failed call. Returns the system's
// reason and, for a missing file, the most similar name among the first 1000 in its folder.
std::string why_unreadable(const std::string& path, int error);

// Writes a file that appears only when it is complete. The text goes to a temporary file beside it; finish() flushes
// that to disk, renames it and flushes the folder. Without finish() the temporary file is removed. Symbolic links at
// the path are followed, so that a link remains a link; one at the temporary file's name is replaced. A path that
// exists and is no regular file (a pipe, a terminal, a device), or is our own standard output, is written to directly.
// Failures throw EnvironmentError with the system's reason.
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

  std::string path_;       // as given
  std::string target_;     // after following symbolic links
  std::string temporary_;  // empty if the path is written to directly
  int fd_ = -1;
};

void write_file(const std::string& path, std::string_view content);

// Calls fsync on a file or folder that other code wrote.
void flush_to_disk(const std::string& path);
// Renames `from` to `to`, then calls fsync on the folder of `to`.
void replace_file(const std::string& from, const std::string& to);
// Makes `name` a hard link to `file`, atomically replacing any file of that name; returns false if the file system
// cannot link them.
bool add_name(const std::string& file, const std::string& name);

void make_folder(const std::string& path);
bool file_exists(const std::string& path);
std::string parent_folder(const std::string& path);

// The absolute path if the file exists; otherwise the path unchanged.
std::string absolute_path(const std::string& path);

}  // namespace emplace
