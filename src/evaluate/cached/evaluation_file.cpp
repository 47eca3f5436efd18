#include "evaluate/cached/evaluation_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>

#include "base/files.hpp"
#include "base/log.hpp"
#include "emplace/base/error.hpp"

namespace emplace::evaluate {

namespace {

constexpr std::string_view magic = "EVAL";
constexpr std::size_t header_bytes = 8;
constexpr std::size_t around_bytes = header_bytes + 8;
constexpr std::size_t key_header_bytes = 12;
constexpr std::size_t outcome_bytes = 22;
constexpr double seconds_between_syncs = 1;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class T>
void append(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
T take(std::string_view& text) {
  T value;
  std::memcpy(&value, text.data(), sizeof value);
  text.remove_prefix(sizeof value);
  return value;
}

std::string record_of(std::string_view payload) {
  std::string record(magic);
  append(record, static_cast<std::uint32_t>(payload.size()));
  record += payload;
  append(record, std::uint64_t{XXH3_64bits(record.data() + magic.size(), record.size() - magic.size())});
  return record;
}

std::string key_of(std::uint32_t problem, const Placement& placement) {
  std::string key;
  key.reserve(key_header_bytes + placement.device.size() + sizeof(std::uint32_t) * placement.order.size());
  append(key, problem);
  append(key, static_cast<std::uint32_t>(placement.device.size()));
  append(key, static_cast<std::uint32_t>(placement.order.size()));
  key.append(reinterpret_cast<const char*>(placement.device.data()), placement.device.size());
  key.append(reinterpret_cast<const char*>(placement.order.data()), sizeof(std::uint32_t) * placement.order.size());
  return key;
}

// The length of the key in a payload; 0 if the payload is shorter than its key and an outcome.
std::size_t key_bytes(std::string_view payload) {
  if (payload.size() < key_header_bytes) return 0;
  std::string_view at = payload.substr(4);
  const std::uint64_t ops = take<std::uint32_t>(at), ids = take<std::uint32_t>(at);
  const std::uint64_t bytes = key_header_bytes + ops + sizeof(std::uint32_t) * ids;
  return bytes + outcome_bytes <= payload.size() ? bytes : 0;
}

KeptEvaluation answer_of(std::string_view text) {
  KeptEvaluation kept;
  kept.outcome.makespan = take<Ticks>(text);
  kept.outcome.overflow = take<Bytes>(text);
  kept.outcome.subject = take<std::uint32_t>(text);
  kept.outcome.why = static_cast<Infeasible>(take<std::uint8_t>(text));
  kept.outcome.device = take<std::uint8_t>(text);
  kept.message = text;
  return kept;
}

std::uint64_t hash_of(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }

// Reads `bytes` bytes at `offset`, or fewer at the end of the file.
std::string read_at(int fd, std::uint64_t offset, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(fd, text.data() + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

}  // namespace

EvaluationFile::EvaluationFile(std::string path, std::string_view identity) : path_(std::move(path)) {
  open(O_RDWR | O_CREAT);
  if (!begins_with(identity)) {
    set_aside();
    open(O_RDWR | O_CREAT | O_EXCL);
    (void)begins_with(identity);
  }
  scan(end_);
}

EvaluationFile::~EvaluationFile() {
  try {
    write();
    sync();
  } catch (const std::exception& error) {
    log_warning("{}", error.what());
  }
  if (fd_ >= 0) ::close(fd_);
}

void EvaluationFile::open(int flags) {
  fd_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0644);
  if (fd_ < 0) throw EnvironmentError("{}: cannot be opened: {}", path_, std::strerror(errno));
}

// Whether the file's first record is that of `identity`. Writes this record if the file has nothing but a part of it.
bool EvaluationFile::begins_with(std::string_view identity) {
  const std::string first = record_of(identity);
  const std::string there = read_at(fd_, 0, first.size());
  if (!first.starts_with(there)) return false;
  pending_ = first.substr(there.size());
  end_ = there.size();
  write();
  return true;
}

void EvaluationFile::set_aside() {
  ::close(fd_);
  fd_ = -1;
  std::string aside;
  for (int number = 1; aside.empty(); ++number)
    if (!file_exists(fmt::format("{}.{}", path_, number))) aside = fmt::format("{}.{}", path_, number);
  replace_file(path_, aside);
  log_info("{} holds evaluations of other problems or of another evaluator: it is now {}", path_, aside);
}

// The payload of the record that begins at `offset`; empty if the record is cut short or damaged.
std::optional<std::string> EvaluationFile::payload_at(std::uint64_t offset) const {
  const std::string header = read_at(fd_, offset, header_bytes);
  if (header.size() < header_bytes || !header.starts_with(magic)) return {};
  std::string_view at = std::string_view(header).substr(magic.size());
  const std::uint64_t length = take<std::uint32_t>(at);
  if (offset + around_bytes + length > end_) return {};
  std::string checked = read_at(fd_, offset + magic.size(), 4 + length + 8);
  if (checked.size() != 4 + length + 8) return {};
  std::string_view sum = std::string_view(checked).substr(4 + length);
  if (take<std::uint64_t>(sum) != XXH3_64bits(checked.data(), 4 + length)) return {};
  return checked.substr(4, length);
}

// The offset of the first undamaged record at `from` or after it; end_ if there is none.
std::uint64_t EvaluationFile::next_record(std::uint64_t from) const {
  constexpr std::size_t part = 1 << 20;
  while (from < end_) {
    const std::string text = read_at(fd_, from, part + magic.size() - 1);
    for (std::size_t at = text.find(magic); at != std::string::npos; at = text.find(magic, at + 1))
      if (payload_at(from + at)) return from + at;
    from += part;
  }
  return end_;
}

// Adds the records from `offset` on to the index; cuts off what follows the last undamaged one.
void EvaluationFile::scan(std::uint64_t offset) {
  struct stat info {};
  if (::fstat(fd_, &info) != 0) throw EnvironmentError("{}: cannot be read: {}", path_, std::strerror(errno));
  end_ = static_cast<std::uint64_t>(info.st_size);
  std::uint64_t damaged = 0;
  while (offset < end_) {
    const std::optional<std::string> payload = payload_at(offset);
    if (!payload) {
      const std::uint64_t next = next_record(offset + 1);
      if (next == end_) break;
      damaged += next - offset;
      offset = next;
      continue;
    }
    if (const std::size_t bytes = key_bytes(*payload); bytes > 0)
      remember(std::string_view(*payload).substr(0, bytes), offset);
    offset += around_bytes + payload->size();
  }
  if (damaged > 0)
    log_warning("{}: {} damaged bytes are skipped; the evaluations in them are made again", path_, damaged);
  if (offset < end_ && ::ftruncate(fd_, static_cast<off_t>(offset)) != 0)
    throw EnvironmentError("{}: cannot be written: {}", path_, std::strerror(errno));
  end_ = offset;
}

void EvaluationFile::remember(std::string_view key, std::uint64_t offset) {
  if (offsets_.size() < most_entries) offsets_.emplace(hash_of(key), offset);
}

std::optional<KeptEvaluation> EvaluationFile::find(std::uint32_t problem, const Placement& placement) const {
  const std::string key = key_of(problem, placement);
  const auto [first, last] = offsets_.equal_range(hash_of(key));
  for (auto at = first; at != last; ++at) {
    const std::optional<std::string> payload = payload_at(at->second);
    if (payload && key_bytes(*payload) == key.size() && payload->starts_with(key))
      return answer_of(std::string_view(*payload).substr(key.size()));
  }
  return {};
}

void EvaluationFile::add(std::uint32_t problem, const Placement& placement, const KeptEvaluation& evaluation) {
  if (offsets_.size() >= most_entries) return;
  std::string payload = key_of(problem, placement);
  remember(payload, end_ + pending_.size());
  const Outcome& outcome = evaluation.outcome;
  append(payload, outcome.makespan);
  append(payload, outcome.overflow);
  append(payload, outcome.subject);
  append(payload, static_cast<std::uint8_t>(outcome.why));
  append(payload, outcome.device);
  payload += evaluation.message;
  pending_ += record_of(payload);
}

void EvaluationFile::write() {
  for (std::size_t done = 0; done < pending_.size();) {
    const ssize_t put = ::pwrite(fd_, pending_.data() + done, pending_.size() - done, static_cast<off_t>(end_ + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw EnvironmentError("{}: cannot be written: {}", path_, std::strerror(errno));
    done += static_cast<std::size_t>(put);
  }
  end_ += pending_.size();
  unsynced_ = unsynced_ || !pending_.empty();
  pending_.clear();
  if (unsynced_ && now() - synced_at_ >= seconds_between_syncs) sync();
}

void EvaluationFile::sync() {
  if (unsynced_ && ::fdatasync(fd_) != 0)
    throw EnvironmentError("{}: cannot be flushed to disk: {}", path_, std::strerror(errno));
  unsynced_ = false;
  synced_at_ = now();
}

}  // namespace emplace::evaluate
