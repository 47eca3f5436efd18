#include "base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace {

namespace {

class FileHandle {
 public:
  FileHandle(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~FileHandle() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

std::string reason() { return std::strerror(errno); }

}  // namespace

std::string why_unreadable(const std::string& path, int error) {
  const std::string why = std::strerror(error);
  if (error != ENOENT) return why;
  const std::filesystem::path missing(path);
  std::vector<std::string> names;
  std::error_code failed;
  std::filesystem::directory_iterator entry(missing.has_parent_path() ? missing.parent_path() : ".", failed);
  for (; !failed && entry != std::filesystem::directory_iterator() && names.size() < 1000; entry.increment(failed))
    names.push_back(printable(entry->path().filename().string()));
  std::ranges::sort(names);  // the system lists them in any order
  return why + did_you_mean(missing.filename().string(), names);
}

std::string read_file(const std::string& path, std::uint64_t limit) {
  // Non-blocking, so that a named pipe without a writer is refused instead of waited for.
  const FileHandle file(path, O_RDONLY | O_NONBLOCK);
  if (!file.ok()) throw InputError(path, "cannot be read: {}", why_unreadable(path, errno));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw InputError(path, "cannot be read: {}", reason());
  if (!S_ISREG(info.st_mode)) throw InputError(path, "is not a regular file");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > limit) throw InputError(path, "has {} bytes, at most {} are read", size, limit);
  std::string content(size, '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t got = ::read(file.get(), content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw InputError(path, "cannot be read: {}", reason());
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  content.resize(done);
  return content;
}

void flush_to_disk(const std::string& path) {
  const FileHandle file(path, O_RDONLY);
  if (!file.ok() || ::fsync(file.get()) != 0)
    throw EnvironmentError("{}: cannot be flushed to disk: {}", path, reason());
}

void replace_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    throw EnvironmentError("{}: cannot be renamed to {}: {}", from, to, reason());
  flush_to_disk(parent_folder(to));
}

bool add_name(const std::string& file, const std::string& name) {
  const std::string linked = name + ".new";
  ::unlink(linked.c_str());
  if (::link(file.c_str(), linked.c_str()) != 0) return false;
  replace_file(linked, name);
  ::unlink(linked.c_str());  // still there if both names had meant one file before
  return true;
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw InputError(path, "the folder cannot be made: {}", error.message());
}

bool file_exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

std::string parent_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string absolute_path(const std::string& path) {
  return file_exists(path) ? std::filesystem::absolute(path).lexically_normal().string() : path;
}

}  // namespace emplace
