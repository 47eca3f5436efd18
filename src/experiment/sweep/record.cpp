#define XXH_INLINE_ALL
#include "experiment/sweep/record.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "experiment/sweep/event_json.hpp"

namespace emplace::experiment {

namespace {

constexpr std::string_view check_key = ",\"check\":\"";
constexpr std::size_t check_digits = 16;
constexpr std::string_view line_end = "\"}";

// `body` is an object without its closing brace.
std::string with_check(const std::string& body, std::uint64_t& check) {
  check = XXH3_64bits_withSeed(body.data(), body.size(), check);
  return fmt::format("{}{}{:016x}{}", body, check_key, check, line_end);
}

}  // namespace

std::string place_in_record(const std::string& path, std::size_t position) {
  return fmt::format("{}:{}", path, position + 2);  // lines are counted from 1, and line 1 is the header
}

RecordedEvents read_record(const std::string& path) {
  const std::string text = read_file(path);
  RecordedEvents record;
  for (std::size_t number = 1; record.length < text.size(); ++number) {
    const std::size_t end = text.find('\n', record.length);
    if (end == std::string::npos) break;  // an incomplete last line
    const std::string line = text.substr(record.length, end - record.length);
    const std::size_t tail = check_key.size() + check_digits + line_end.size();
    const std::string body = line.substr(0, line.size() - std::min(line.size(), tail));
    const std::string place = fmt::format("{}:{}", path, number);
    std::uint64_t check = record.check;
    if (line != with_check(body, check)) {
      // After a crash, parts of the last line that were not written to the disk read as zeros.
      if (end + 1 == text.size() && line.find('\0') != std::string::npos) break;
      throw InputError(place, "is damaged: the line does not match its checksum, or one before it is missing");
    }
    if (number == 1)
      check_header(body + "}", place);
    else
      record.events.push_back(event_of(body + "}", place));
    record.check = check;
    record.length = end + 1;
  }
  return record;
}

SweepRecord::SweepRecord(std::string path)
    : path_(std::move(path)),
      lock_(path_ + ".lock", lock_patience_s, path_, "another process trains the trials that it records") {
  const bool there = file_exists(path_);
  if (there) read_ = read_record(path_);
  fd_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) throw EnvironmentError("{}: cannot be written: {}", path_, std::strerror(errno));
  try {
    if (::ftruncate(fd_, static_cast<off_t>(read_.length)) != 0)
      throw EnvironmentError("{}: its incomplete last line cannot be removed: {}", path_, std::strerror(errno));
    if (read_.length == 0) append(header_body());
    if (!there) flush_to_disk(parent_folder(path_));
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

SweepRecord::~SweepRecord() {
  if (fd_ >= 0) ::close(fd_);
}

void SweepRecord::add(const SweepEvent& event) { append(body_of(event)); }

void SweepRecord::append(const std::string& body) {
  std::uint64_t check = read_.check;
  const std::string line = with_check(body, check) + "\n";
  const auto fail = [&](const char* what) {
    const int why = errno;
    // Removes the incomplete line, so that later lines are not appended to it.
    const bool cut = ::ftruncate(fd_, static_cast<off_t>(read_.length)) == 0;
    throw EnvironmentError("{}: cannot be {}: {}{}", path_, what, std::strerror(why),
                           cut ? "" : " (its last line is incomplete)");
  };
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t wrote = ::write(fd_, line.data() + done, line.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail("written");
    done += static_cast<std::size_t>(wrote);
  }
  if (::fsync(fd_) != 0) fail("flushed to disk");
  read_.length += line.size();
  read_.check = check;
}

}  // namespace emplace::experiment
