#include "experiment/run/run_folder.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <thread>

#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::experiment {

namespace {

constexpr const char* lock_name = "/lock";

FileLock take_lock(const std::string& folder, double patience_s = 0) {
  return {folder + lock_name, patience_s, folder, "another run is working in this folder"};
}

// Whether the open file is the one that has this path now.
bool is_file_at(int fd, const std::string& path) {
  struct stat opened {
  }, there{};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &there) == 0 && opened.st_dev == there.st_dev &&
         opened.st_ino == there.st_ino;
}

bool holds_run(const std::string& folder) { return file_exists(folder + "/config.toml"); }

// "a finished run", "an interrupted sweep".
std::string content_of(const std::string& folder) {
  std::string status = RunFolder::status_now(folder, false);
  if (status.empty() || status == "unknown" || status.size() > 20) status = "begun";
  const bool sweep = RunFolder::config_of(folder).contains("space");
  const bool vowel = std::string_view("aeiou").find(status.front()) != std::string_view::npos;
  return fmt::format("{} {} {}", vowel ? "an" : "a", printable(status), sweep ? "sweep" : "run");
}

// Before anything is made: a text that is not UTF-8, such as the folder's own name, cannot be read again.
void check_readable(const std::string& config, const std::string& folder) {
  try {
    (void)ConfigTable::parse_toml(config, "config.toml");
  } catch (const InputError& error) {
    throw InputError(folder, "is not made, because its config.toml could not be read: {}", error.what());
  }
}

[[noreturn]] void refuse_folder(const std::string& folder) {
  throw InputError(folder, "holds {}: `--continue` {}, run=FOLDER begins another one", content_of(folder),
                   RunFolder::status_now(folder, false) == "finished"
                       ? "prints its result, or goes on if the budget is larger"
                       : "goes on with it");
}

}  // namespace

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string best_placement_file(std::size_t problem, std::size_t problems) {
  return problems == 1 ? "best.placement.json" : fmt::format("best.{}.placement.json", problem);
}

FileLock::FileLock(const std::string& path, double patience_s, const std::string& place, const std::string& says) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  bool said = false;
  patience_s = std::max(patience_s, 0.2);  // is_locked() takes the lock for a moment
  while (true) {
    if (fd_ < 0) fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd_ < 0) throw InputError(place, "cannot be written: {}", std::strerror(errno));
    if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) {
      if (is_file_at(fd_, path)) return;
      ::close(std::exchange(fd_, -1));  // its holder renamed the folder while we waited
      continue;
    }
    const int why = errno;
    const std::chrono::duration<double> waited = Clock::now() - start;
    if (why == EWOULDBLOCK && waited.count() < patience_s && !stop_requested()) {
      if (waited.count() > 2 && !std::exchange(said, true))
        log_info("{}: {}: waiting for it to end, at most {} s", place, says, patience_s);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    ::close(std::exchange(fd_, -1));
    if (why == EWOULDBLOCK) throw InUse(place, "{}", says);
    throw EnvironmentError("{}: cannot be locked: {}", path, std::strerror(why));
  }
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

bool is_locked(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return locked;
}

RunFolder RunFolder::create(const std::string& given, const ConfigTable& config, IfThere there) {
  const std::string path = without_trailing_slash(given);
  // Looked at once: another process may move the folder aside at any time.
  std::error_code error;
  const std::filesystem::file_status found = std::filesystem::status(path, error);
  if (std::filesystem::exists(found) && !std::filesystem::is_directory(found))
    throw InputError(path, "is a file, wanted a run folder");
  const std::string text = config.to_toml();
  check_readable(text, path);
  std::string moved;
  for (int attempts_left = 100;; --attempts_left) {
    make_folder(path);
    std::optional<FileLock> lock;
    try {
      lock.emplace(take_lock(path));
    } catch (const InUse&) {
      throw;
    } catch (const InputError&) {
      // Another process may have moved the folder aside since make_folder(), and may have made it again.
      if (attempts_left == 0) throw;
      continue;
    }
    // From here on no other process may write in the folder or move it.
    if (!holds_run(path)) {
      RunFolder folder(path, std::move(*lock));
      folder.moved_aside_ = moved;
      write_file(folder.file("config.toml"), text);
      folder.set_status("running");
      return folder;
    }
    if (there == IfThere::refuse) refuse_folder(path);
    int number = 1;
    while (file_exists(fmt::format("{}.{}", path, number))) ++number;
    moved = fmt::format("{}.{}", path, number);
    replace_file(path, moved);
  }
}

RunFolder RunFolder::open(const std::string& given, double patience_s) {
  const std::string path = without_trailing_slash(given);
  const auto check = [&] {
    if (!holds_run(path)) throw InputError(path, "is not a run folder: it has no config.toml");
  };
  check();
  FileLock lock = take_lock(path, patience_s);
  check();  // another process may have moved the run aside while this one waited
  return RunFolder(path, std::move(lock));
}

void RunFolder::refuse_if_there(const std::string& given) {
  const std::string path = without_trailing_slash(given);
  if (!holds_run(path)) return;
  (void)take_lock(path);  // InUse if a process works in it
  refuse_folder(path);
}

ConfigTable RunFolder::config() const { return config_of(path_); }

ConfigTable RunFolder::config_of(const std::string& path) { return ConfigTable::read_toml(path + "/config.toml"); }

void RunFolder::set_config(const ConfigTable& wanted) const {
  if (const std::string text = wanted.to_toml(); text != config().to_toml()) write_file(file("config.toml"), text);
}

void RunFolder::set_status(const std::string& status) const { write_file(file("status"), status + "\n"); }

void RunFolder::try_set_status(const std::string& status) const noexcept {
  try {
    set_status(status);
  } catch (const std::exception&) {
  }
}

std::string RunFolder::status() const { return status_of(path_); }

std::string RunFolder::status_of(const std::string& path) {
  const std::string file = path + "/status";
  if (!file_exists(file)) return "unknown";
  std::string text = read_file(file, 4096);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool RunFolder::in_use(const std::string& path) { return is_locked(path + lock_name); }

std::string RunFolder::status_now(const std::string& path, bool was_in_use) {
  std::string status = status_of(path);
  return status == "running" && !was_in_use ? "interrupted" : status;
}

}  // namespace emplace::experiment
