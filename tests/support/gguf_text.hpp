// GGUF files without weights, in memory: keys and tensors as a test wants them, right or wrong.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emplace::test {

class GgufText {
 public:
  std::uint32_t version = 3;

  GgufText& text(std::string_view key, std::string_view value) { return add(key, 8, sized(value)); }
  GgufText& whole(std::string_view key, std::uint32_t value) { return add(key, 4, bytes(value)); }
  GgufText& flag(std::string_view key, bool value) { return add(key, 7, std::string(1, value ? '\1' : '\0')); }
  GgufText& wholes(std::string_view key, const std::vector<std::uint32_t>& values) {
    std::string items;
    for (const std::uint32_t value : values) items += bytes(value);
    return list(key, 4, values.size(), items);
  }
  GgufText& flags(std::string_view key, const std::vector<bool>& values) {
    std::string items;
    for (const bool value : values) items += value ? '\1' : '\0';
    return list(key, 7, values.size(), items);
  }
  // A list of this type (8: texts) that claims `count` items, of which `items` has the bytes.
  GgufText& list(std::string_view key, std::uint32_t type, std::uint64_t count, std::string_view items) {
    return add(key, 9, bytes(type) + bytes(count) + std::string(items));
  }
  // A value of a type that need not exist.
  GgufText& add(std::string_view key, std::uint32_t type, const std::string& value) {
    keys_.push_back(sized(key) + bytes(type) + value);
    return *this;
  }
  // The first size is that of a row; `type` is ggml's number (0: F32).
  GgufText& tensor(std::string_view name, const std::vector<std::uint64_t>& sizes, std::uint32_t type = 0,
                   std::uint64_t offset = 0) {
    std::string text = sized(name) + bytes(static_cast<std::uint32_t>(sizes.size()));
    for (const std::uint64_t size : sizes) text += bytes(size);
    tensors_.push_back(text + bytes(type) + bytes(offset));
    return *this;
  }

  [[nodiscard]] std::string str() const {
    std::string out =
        "GGUF" + bytes(version) + bytes(std::uint64_t{tensors_.size()}) + bytes(std::uint64_t{keys_.size()});
    for (const std::string& key : keys_) out += key;
    for (const std::string& each : tensors_) out += each;
    return out;
  }

  template <class Number>
  static std::string bytes(Number number) {
    std::string out(sizeof(Number), '\0');
    std::memcpy(out.data(), &number, sizeof(Number));
    return out;
  }
  static std::string sized(std::string_view value) { return bytes(std::uint64_t{value.size()}) + std::string(value); }

 private:
  std::vector<std::string> keys_, tensors_;
};

}  // namespace emplace::test
