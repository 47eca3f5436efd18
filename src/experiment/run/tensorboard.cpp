#include "experiment/run/tensorboard.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <bit>
#include <boost/crc.hpp>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/files.hpp"
#include "emplace/base/error.hpp"

namespace emplace::experiment {

namespace {

using Crc32c = boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true>;

// The masked CRC of TFRecord. It masks because the CRC of data that contains CRCs is a weak check.
std::uint32_t masked_crc(std::string_view data) {
  Crc32c crc;
  crc.process_bytes(data.data(), data.size());
  return std::rotr(crc.checksum(), 15) + 0xA282EAD8U;
}

// Little-endian, as the format requires.
template <class T>
std::string raw(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xFF);
  return bytes;
}

// Protocol buffers: a field's number and kind of value, then the value.
enum Kind : std::uint32_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
std::string number(std::uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>((value & 0x7F) | 0x80);
  return text + static_cast<char>(value);
}
std::string field(std::uint32_t position, Kind kind, const std::string& value) {
  return number(position << 3 | kind) + value;
}
std::string message(std::uint32_t position, const std::string& content) {
  return field(position, bytes, number(content.size()) + content);
}

// Event: wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7.
std::string event(std::uint64_t step, const std::string& what) {
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return field(1, fixed64, raw(std::bit_cast<std::uint64_t>(now))) + field(2, varint, number(step)) + what;
}

// A name that sorts after those of earlier files.
std::string name_of_file() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  char host[256] = "host";
  if (::gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "host");
  return fmt::format("events.out.tfevents.{:010}.{}.{:06}.{}",
                     std::chrono::duration_cast<std::chrono::seconds>(now).count(), host,
                     std::chrono::duration_cast<std::chrono::microseconds>(now).count() % 1'000'000, ::getpid());
}

}  // namespace

TensorboardFile::TensorboardFile(const std::string& folder, std::uint64_t update) {
  make_folder(folder);
  path_ = folder + "/" + name_of_file();
  file_ = std::fopen(path_.c_str(), "wb");
  if (file_ == nullptr) throw EnvironmentError("{}: cannot be written: {}", path_, std::strerror(errno));
  write(event(0, message(3, "brain.Event:2")));
  // SessionLog: status = 1, of which START is 1.
  if (update > 0) write(event(update + 1, message(7, field(1, varint, number(1)))));
  flush();
}

TensorboardFile::~TensorboardFile() { std::fclose(file_); }

void TensorboardFile::add(std::uint64_t update, const std::vector<std::pair<std::string, double>>& row) {
  std::string summary;  // value = 1: tag = 1, simple_value = 2
  for (const auto& [name, value] : row) {
    if (name == "update" || !std::isfinite(value)) continue;
    summary +=
        message(1, message(1, name) + field(2, fixed32, raw(std::bit_cast<std::uint32_t>(static_cast<float>(value)))));
  }
  write(event(update, message(5, summary)));
  if (std::chrono::steady_clock::now() - flushed_ >= std::chrono::seconds(1)) flush();
}

void TensorboardFile::write(const std::string& data) {
  const std::string length = raw(std::uint64_t{data.size()});
  const std::string record = length + raw(masked_crc(length)) + data + raw(masked_crc(data));
  if (std::fwrite(record.data(), 1, record.size(), file_) != record.size())
    throw EnvironmentError("{}: cannot be written: {}", path_, std::strerror(errno));
}

void TensorboardFile::flush() {
  if (std::fflush(file_) != 0) throw EnvironmentError("{}: cannot be written: {}", path_, std::strerror(errno));
  flushed_ = std::chrono::steady_clock::now();
}

}  // namespace emplace::experiment
