#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/proto/cursor.hpp"
#include "formats/proto/lexer.hpp"
#include "formats/utf8.hpp"

namespace emplace::formats {

namespace {

constexpr std::size_t deepest_message = 64;

class TextCursor final : public ProtoCursor {
 public:
  explicit TextCursor(const std::string& path) : path_(path), lexer_(path_), open_{{}} { advance(); }
  TextCursor(const std::string& path, std::string_view content) : path_(path), lexer_(path_, content), open_{{}} {
    advance();
  }

  std::uint32_t next(std::span<const ProtoField> known) override {
    Level& level = open_.back();
    if (level.list_field != 0) {
      if (token_.is(',')) {
        advance();
        return level.list_field;
      }
      if (!token_.is(']')) fail(fmt::format("expected ',' or ']' in a list, found {}", found()));
      advance();
      level.list_field = 0;
    }
    while (true) {
      if (token_.is(',') || token_.is(';')) advance();
      if (token_.kind == ProtoToken::Kind::end || token_.is('}') || token_.is('>')) {
        const bool at_end = token_.kind == ProtoToken::Kind::end;
        if (at_end != (open_.size() == 1) || (!at_end && token_.value[0] != level.close))
          fail(fmt::format("expected a field{}, found {}", open_.size() == 1 ? "" : " or the end of a message",
                           found()));
        return 0;
      }
      const ProtoField* field = read_field_name(known);
      const bool colon = token_.is(':');
      if (colon) advance();
      if (field == nullptr || !accept(*field, colon)) {
        skip_value();
        continue;
      }
      if (token_.is('[')) {
        advance();
        if (token_.is(']')) {
          advance();
          continue;
        }
        level.list_field = field->number;
      }
      return field->number;
    }
  }

  std::optional<std::string> text(std::size_t longest) override {
    if (token_.kind != ProtoToken::Kind::text) fail(fmt::format("expected a text, found {}", found()));
    std::optional<std::string> result;
    if (!token_.shortened && token_.value.size() <= longest) result = std::move(token_.value);
    advance();
    return result;
  }

  std::int64_t whole() override {
    if (token_.kind == ProtoToken::Kind::word && (token_.value == "true" || token_.value == "True")) token_.value = "1";
    if (token_.kind == ProtoToken::Kind::word && (token_.value == "false" || token_.value == "False"))
      token_.value = "0";
    std::int64_t value = 0;
    std::uint64_t large = 0;
    if (token_.kind != ProtoToken::Kind::word) fail(fmt::format("expected a whole number, found {}", found()));
    if (!parse_number(token_.value, value)) {
      const char* end = token_.value.data() + token_.value.size();
      const auto [at, error] = std::from_chars(token_.value.data(), end, large);
      if (error != std::errc{} || at != end) fail(fmt::format("expected a whole number, found {}", found()));
      value = static_cast<std::int64_t>(large);
    }
    advance();
    return value;
  }

  double real() override {
    double value = 0;
    if (token_.kind == ProtoToken::Kind::word && token_.value.ends_with('f') && token_.value != "inf" &&
        token_.value != "-inf")
      token_.value.pop_back();
    if (token_.kind != ProtoToken::Kind::word || !parse_number(token_.value, value))
      fail(fmt::format("expected a number, found {}", found()));
    advance();
    return value;
  }

  std::int64_t enumeration(std::span<const ProtoEnumerator> names) override {
    if (token_.kind != ProtoToken::Kind::word) fail(fmt::format("expected a name, found {}", found()));
    std::int64_t value = 0;
    if (!parse_number(token_.value, value)) {
      const auto known =
          std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.name == token_.value; });
      if (known == names.end()) fail_unknown(names);
      value = known->number;
    }
    advance();
    return value;
  }

  void message(const std::function<void()>& body) override {
    if (!token_.is('{') && !token_.is('<')) fail(fmt::format("expected '{{', found {}", found()));
    if (open_.size() == deepest_message)
      fail(fmt::format("messages are nested deeper than {} levels", deepest_message));
    open_.push_back({token_.is('{') ? '}' : '>', 0});
    advance();
    body();
    open_.pop_back();
    advance();  // passes the closing brace, at which next() stopped
  }

  [[noreturn]] void fail(const std::string& why) const override { lexer_.fail(why); }

 private:
  struct Level {
    char close = 0;
    std::uint32_t list_field = 0;  // number of the field whose list [a, b] is open; 0: none
  };

  void advance() { lexer_.read(token_); }
  [[nodiscard]] std::string found() const {
    return token_.kind == ProtoToken::Kind::end ? "the end of the file" : quote(token_.value);
  }

  [[noreturn]] void fail_unknown(std::span<const ProtoEnumerator> names) const {
    std::vector<std::string> known;
    for (const ProtoEnumerator& enumerator : names) known.emplace_back(enumerator.name);
    fail(fmt::format("the name {} is not known{}", found(), did_you_mean(token_.value, known)));
  }

  // Returns nullptr if the field is not in `known`. Names in brackets (extensions and Any) never are.
  const ProtoField* read_field_name(std::span<const ProtoField> known) {
    if (token_.is('[')) {
      while (!token_.is(']')) {
        if (token_.kind == ProtoToken::Kind::end) fail("the name in brackets does not end");
        advance();
      }
      advance();
      return nullptr;
    }
    if (token_.kind != ProtoToken::Kind::word) fail(fmt::format("expected the name of a field, found {}", found()));
    const auto field =
        std::find_if(known.begin(), known.end(), [&](const ProtoField& f) { return f.name == token_.value; });
    advance();
    return field == known.end() ? nullptr : &*field;
  }

  // Whether the value has the field's kind. A message in place of another kind, or the reverse, is skipped, as in the
  // binary form.
  [[nodiscard]] bool accept(const ProtoField& field, bool colon) const {
    const bool is_message = token_.is('{') || token_.is('<');
    if (!is_message && !colon) fail(fmt::format("expected ':' or '{{' after a field's name, found {}", found()));
    return token_.is('[') || is_message == (field.kind == ProtoKind::message);
  }

  // Skips one scalar, list or message, without recursion.
  void skip_value() {
    std::string closers;
    do {
      if (token_.kind == ProtoToken::Kind::end) fail("the file ends inside a message");
      if (token_.is('{') || token_.is('<') || token_.is('[')) {
        if (closers.size() == deepest_message)
          fail(fmt::format("messages are nested deeper than {} levels", deepest_message));
        closers += token_.is('{') ? '}' : token_.is('<') ? '>' : ']';
      } else if (token_.is('}') || token_.is('>') || token_.is(']')) {
        if (closers.empty() || closers.back() != token_.value[0])
          fail(fmt::format("expected a value, found {}", found()));
        closers.pop_back();
      }
      advance();
    } while (!closers.empty());
  }

  const std::string path_;
  ProtoLexer lexer_;
  ProtoToken token_;
  std::vector<Level> open_;
};

}  // namespace

std::string ProtoCursor::name() {
  std::optional<std::string> result = text(ProtoToken::longest_kept);
  if (!result) fail("a name is longer than 64 KiB");
  if (!is_utf8(*result)) fail("a name is not valid UTF-8");
  return std::move(*result);
}

std::unique_ptr<ProtoCursor> open_text_proto(const std::string& path) { return std::make_unique<TextCursor>(path); }
std::unique_ptr<ProtoCursor> open_text_proto(const std::string& path, std::string_view content) {
  return std::make_unique<TextCursor>(path, content);
}

}  // namespace emplace::formats
