// Splits protobuf's text format into tokens: https://protobuf.dev/reference/protobuf/textformat-spec.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/input_file.hpp"

namespace emplace::formats {

struct ProtoToken {
  enum class Kind : std::uint8_t { end, word, text, symbol } kind = Kind::end;  // word: a name or a number
  std::string value;
  bool shortened = false;           // true for a text longer than longest_kept, whose value is dropped
  std::int64_t begin = 0, end = 0;  // the token's bytes in the file

  static constexpr std::size_t longest_kept = std::size_t{64} << 10;
  [[nodiscard]] bool is(char c) const { return kind == Kind::symbol && value[0] == c; }
};

class ProtoLexer {
 public:
  // Keeps a reference to `path`. InputError as for InputFile.
  explicit ProtoLexer(const std::string& path) : path_(path), file_(path_) {}
  ProtoLexer(const std::string& path, std::string_view content) : path_(path), file_(path_, content) {}

  // Replaces `token` by the next one; adjacent texts are joined into one text.
  void read(ProtoToken& token);
  // Throws InputError with file and line.
  [[noreturn]] void fail(const std::string& why) const;

 private:
  void skip_blanks();
  void read_text(ProtoToken& token);
  int escaped();
  int digits(int value, int base, int most);

  // The next character; -1 at the end of the file.
  int peek() {
    if (left_.empty() && !ended_) {
      left_ = file_.read();
      ended_ = left_.empty();
    }
    return left_.empty() ? -1 : static_cast<unsigned char>(left_.front());
  }
  void take() {
    if (left_.front() == '\n') ++line_;
    left_.remove_prefix(1);
    ++at_;
  }

  const std::string& path_;
  InputFile file_;
  std::string_view left_;  // characters that were read but not yet used
  bool ended_ = false;
  std::size_t line_ = 1;
  std::int64_t at_ = 0;
};

}  // namespace emplace::formats
