#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/files.hpp"
#include "emplace/base/error.hpp"

namespace emplace {

namespace {

constexpr int most_links = 40;  // as Linux

// The path at the end of a chain of symbolic links, whether or not a file exists there.
std::string behind_links(const std::string& path) {
  std::filesystem::path at = path;
  std::error_code error;
  for (int i = 0; i < most_links && std::filesystem::is_symlink(at, error); ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(at, error);
    if (error) break;
    at = at.parent_path() / next;
  }
  return at.string();
}

// Returns the descriptor of our own standard output or error if that is the same file as `info` (as with /dev/stdout),
// otherwise -1. Opening or replacing that file a second time would lose what is printed.
int standard_stream(const struct stat& info) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    if (::fstat(stream, &own) == 0 && own.st_dev == info.st_dev && own.st_ino == info.st_ino) return stream;
  }
  return -1;
}

// Opens a file that was not there before. A file that a killed process left is removed first. A link of that name,
// which another user may have made in a shared folder, is not followed.
int open_new(const std::string& path, mode_t permissions) {
  ::unlink(path.c_str());
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, permissions);
}

// Whether the open file still has this path.
bool is_still_at(int fd, const std::string& path) {
  struct stat opened {
  }, there{};
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &there) == 0 && opened.st_dev == there.st_dev &&
         opened.st_ino == there.st_ino;
}

}  // namespace

FileWriter::FileWriter(const std::string& path) : path_(path) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (!exists && errno == ELOOP) fail("written");
  const int stream = exists ? standard_stream(info) : -1;
  if (stream >= 0) {
    fd_ = ::fcntl(stream, F_DUPFD_CLOEXEC, 0);
  } else if (exists && !S_ISREG(info.st_mode)) {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    constexpr mode_t permissions = 0777;
    target_ = behind_links(path);
    temporary_ = target_ + ".writing";
    fd_ = open_new(temporary_, exists ? info.st_mode & permissions : mode_t{0644});
    if (fd_ < 0) {
      const int why = errno;
      if (why == EEXIST)  // what stands there could not be removed
        throw EnvironmentError("{}: cannot be written, because {} is there: remove or rename it", path_,
                               std::exchange(temporary_, ""));
      temporary_.clear();
      errno = why;
    }
  }
  if (fd_ < 0) fail("written");
}

FileWriter::~FileWriter() { close_and_remove(); }

void FileWriter::close_and_remove() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void FileWriter::fail(const char* what) {
  const int why = errno;
  close_and_remove();
  throw EnvironmentError("{}: cannot be {}: {}", path_, what, std::strerror(why));
}

void FileWriter::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd_, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("written");
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

void FileWriter::finish() {
  if (!temporary_.empty() && ::fsync(fd_) != 0) fail("flushed to disk");
  if (!temporary_.empty() && !is_still_at(fd_, temporary_)) {
    temporary_.clear();  // it is not ours
    throw EnvironmentError("{}: another process writes the same file", path_);
  }
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) fail("written");
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("replaced");
  temporary_.clear();
  flush_to_disk(parent_folder(target_));
}

void write_file(const std::string& path, std::string_view content) {
  FileWriter file(path);
  file.write(content);
  file.finish();
}

}  // namespace emplace
