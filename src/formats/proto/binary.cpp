#include <algorithm>
#include <cstring>
#include <vector>

#include "emplace/base/error.hpp"
#include "formats/input_file.hpp"
#include "formats/proto/cursor.hpp"

namespace emplace::formats {

namespace {

class BinaryCursor final : public ProtoCursor {
 public:
  explicit BinaryCursor(const std::string& path) : path_(path), file_(path_) { ends_.push_back(size()); }
  BinaryCursor(const std::string& path, std::string_view content) : path_(path), file_(path_, content) {
    ends_.push_back(size());
  }

  std::uint32_t next(std::span<const ProtoField> known) override {
    if (at_ < packed_end_) return packed_field_;
    packed_end_ = 0;
    while (at_ < ends_.back()) {
      const std::uint64_t tag = varint();
      const std::uint64_t number = tag >> 3;
      wire_ = static_cast<int>(tag & 7);
      if (number == 0 || number >= (1u << 29)) fail("this is no field of a protobuf message");
      length_ = 0;
      if (wire_ == 2) {
        length_ = varint();
        if (length_ > ends_.back() - at_)
          fail(fmt::format("a field of {} bytes does not fit in the {} that are left", length_, ends_.back() - at_));
      } else if (wire_ != 0 && wire_ != 1 && wire_ != 5) {
        fail("this is no field of a protobuf message");
      }
      for (const ProtoField& field : known)
        if (field.number == number && accept(field)) return field.number;
      skip_value();
    }
    return 0;
  }

  std::optional<std::string> text(std::size_t longest) override {
    if (length_ > longest) {
      skip(length_);
      return std::nullopt;
    }
    std::string result(length_, '\0');
    copy(result.data(), length_);
    return result;
  }

  std::int64_t whole() override { return static_cast<std::int64_t>(varint()); }

  double real() override {
    if (wire_ == 1) {
      double value = 0;
      copy(reinterpret_cast<char*>(&value), sizeof value);
      return value;
    }
    float value = 0;
    copy(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  }

  std::int64_t enumeration(std::span<const ProtoEnumerator>) override { return whole(); }

  void message(const std::function<void()>& body) override {
    ends_.push_back(at_ + length_);
    body();
    skip(ends_.back() - at_);
    ends_.pop_back();
  }

  [[noreturn]] void fail(const std::string& why) const override {
    throw InputError(path_, "is truncated or damaged: at byte {}: {}", at_, why);
  }

 private:
  [[nodiscard]] std::uint64_t size() const { return static_cast<std::uint64_t>(file_.size()); }

  // Whether the value in the file has the field's kind. If it is a packed list, starts reading the list.
  bool accept(const ProtoField& field) {
    switch (field.kind) {
      case ProtoKind::message:
      case ProtoKind::text: return wire_ == 2;
      case ProtoKind::real:
        if (wire_ == 2) return pack(field.number, 5);
        return wire_ == 5 || wire_ == 1;
      default:
        if (wire_ == 2) return pack(field.number, 0);
        return wire_ == 0;
    }
  }
  bool pack(std::uint32_t number, int wire) {
    if (length_ == 0 || (wire == 5 && length_ % 4 != 0)) return false;
    packed_field_ = number;
    packed_end_ = at_ + length_;
    wire_ = wire;
    return true;
  }

  void skip_value() {
    switch (wire_) {
      case 0: varint(); break;
      case 1: skip(8); break;
      case 2: skip(length_); break;
      default: skip(4);
    }
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      const auto byte = static_cast<unsigned char>(get());
      value |= std::uint64_t{byte & 0x7Fu} << (shift < 64 ? shift : 0);
      if (byte < 0x80) return value;
    }
    fail("a number has more than ten bytes");
  }

  char get() {
    if (at_ >= (packed_end_ > 0 ? packed_end_ : ends_.back())) fail("a message ends inside a field");
    if (left_.empty()) fill();
    const char c = left_.front();
    left_.remove_prefix(1);
    ++at_;
    return c;
  }
  void fill() {
    left_ = file_.read();
    if (left_.empty()) fail("the file ends here");
  }
  void copy(char* to, std::uint64_t count) {
    if (count > ends_.back() - at_) fail("a message ends inside a field");
    while (count > 0) {
      if (left_.empty()) fill();
      const std::size_t part = std::min<std::uint64_t>(count, left_.size());
      if (to != nullptr) {
        std::memcpy(to, left_.data(), part);
        to += part;
      }
      left_.remove_prefix(part);
      at_ += part;
      count -= part;
    }
  }
  void skip(std::uint64_t count) {
    const std::uint64_t held = std::min<std::uint64_t>(count, left_.size());
    left_.remove_prefix(held);
    at_ += held;
    at_ += count - held;
    file_.skip(count - held);
  }

  const std::string path_;
  InputFile file_;
  std::string_view left_;            // bytes that were read but not yet used
  std::uint64_t at_ = 0;             // position in the file
  std::vector<std::uint64_t> ends_;  // where the open messages end
  int wire_ = 0;                     // wire type of the current field
  std::uint64_t length_ = 0;
  std::uint32_t packed_field_ = 0;
  std::uint64_t packed_end_ = 0;  // 0: no packed list is open
};

}  // namespace

std::unique_ptr<ProtoCursor> open_binary_proto(const std::string& path) { return std::make_unique<BinaryCursor>(path); }
std::unique_ptr<ProtoCursor> open_binary_proto(const std::string& path, std::string_view content) {
  return std::make_unique<BinaryCursor>(path, content);
}

}  // namespace emplace::formats
