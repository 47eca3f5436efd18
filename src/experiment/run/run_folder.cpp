#include "experiment/run/run_folder.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
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

}  // namespace

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string best_placement_file(std::size_t problem, std::size_t problems) {
  return problems == 1 ? "best.placement.json" : fmt::format("best.{}.placement.json", problem);
}

FileLock::FileLock(const std::string& path, double patience_s, const std::string& place, const std::string& says)
    : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (fd_ < 0) throw InputError(place, "cannot be written: {}", std::strerror(errno));
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  bool said = false;
  patience_s = std::max(patience_s, 0.2);  // is_locked() takes the lock for a moment
  while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const int why = errno;
    const std::chrono::duration<double> waited = Clock::now() - start;
    if (why == EWOULDBLOCK && waited.count() < patience_s && !stop_requested()) {
      if (waited.count() > 2 && !std::exchange(said, true))
        log_info("{}: {}: waiting for it to end, at most {} s", place, says, patience_s);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    ::close(fd_);
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

RunFolder RunFolder::create(const std::string& given, const ConfigTable& config) {
  const std::string path = without_trailing_slash(given);
  std::string moved;
  if (file_exists(path + "/config.toml")) {
    const FileLock lock = take_lock(path);  // InUse if another process works in it
    for (int number = 1; moved.empty(); ++number)
      if (!file_exists(fmt::format("{}.{}", path, number))) moved = fmt::format("{}.{}", path, number);
    replace_file(path, moved);
  } else if (file_exists(path) && !std::filesystem::is_directory(path)) {
    throw InputError(path, "is a file, wanted a run folder");
  }
  make_folder(path);
  RunFolder folder(path, take_lock(path));
  folder.moved_aside_ = moved;
  write_file(folder.file("config.toml"), config.to_toml());
  folder.set_status("running");
  return folder;
}

RunFolder RunFolder::open(const std::string& given, double patience_s) {
  const std::string path = without_trailing_slash(given);
  if (!file_exists(path + "/config.toml")) throw InputError(path, "is not a run folder: it has no config.toml");
  return RunFolder(path, take_lock(path, patience_s));
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

MetricsFile::MetricsFile(std::string path, std::size_t rows) : path_(std::move(path)) {
  std::string kept;
  if (rows > 0 && file_exists(path_)) {
    const std::string text = read_file(path_);
    std::size_t end = 0;
    for (std::size_t line = 0; line <= rows; ++line) {  // the header and `rows` rows
      const std::size_t next = text.find('\n', end);
      if (next == std::string::npos) break;
      end = next + 1;
      if (line == 0) header_ = text.substr(0, next);
    }
    kept = text.substr(0, end);
  }
  write_file(path_, kept);
  file_ = std::fopen(path_.c_str(), "a");
  if (file_ == nullptr) throw EnvironmentError("{}: cannot be written: {}", path_, std::strerror(errno));
}

MetricsFile::~MetricsFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void MetricsFile::add(const std::vector<std::pair<std::string, double>>& row) {
  if (header_.empty()) {
    std::vector<std::string> names;
    for (const auto& [name, value] : row) names.push_back(name);
    header_ = join(names, ",");
    fmt::print(file_, "{}\n", header_);
  }
  // A run that an older version of the program began keeps the columns that it has.
  std::vector<std::string> values;
  for (const std::string& name : split(header_, ',')) {
    const auto found = std::ranges::find(row, name, &std::pair<std::string, double>::first);
    EMPLACE_CHECK(found != row.end(), "metrics.csv has a column {}, which this row does not have", name);
    values.push_back(std::isfinite(found->second) ? fmt::format("{}", found->second) : "");  // empty: not a number
  }
  fmt::print(file_, "{}\n", join(values, ","));
  if (std::fflush(file_) != 0) throw EnvironmentError("{}: cannot be written: {}", path_, std::strerror(errno));
}

}  // namespace emplace::experiment
