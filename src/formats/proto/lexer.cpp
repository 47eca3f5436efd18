#include "formats/proto/lexer.hpp"

#include "emplace/base/error.hpp"

namespace emplace::formats {

namespace {

bool is_word(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-' || c == '+';
}

}  // namespace

void ProtoLexer::read(ProtoToken& token) {
  token.value.clear();
  token.shortened = false;
  skip_blanks();
  token.begin = at_;
  const int c = peek();
  if (c < 0) {
    token.kind = ProtoToken::Kind::end;
  } else if (c == '"' || c == '\'') {
    token.kind = ProtoToken::Kind::text;
    for (int quote = c; quote == '"' || quote == '\''; skip_blanks(), quote = peek()) {
      read_text(token);
      token.end = at_;
    }
    return;
  } else if (is_word(c)) {
    token.kind = ProtoToken::Kind::word;
    for (int d = c; is_word(d); take(), d = peek()) {
      if (token.value.size() == 4096) fail("a word is longer than 4096 characters");
      token.value += static_cast<char>(d);
    }
  } else {
    token.kind = ProtoToken::Kind::symbol;
    token.value = static_cast<char>(c);
    take();
  }
  token.end = at_;
}

void ProtoLexer::fail(const std::string& why) const {
  throw InputError(path_, "is truncated or damaged: line {}: {}", line_, why);
}

void ProtoLexer::skip_blanks() {
  for (int c = peek(); c >= 0; c = peek()) {
    if (c == '#')
      while (peek() >= 0 && peek() != '\n') take();
    else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f')
      take();
    else
      return;
  }
}

void ProtoLexer::read_text(ProtoToken& token) {
  const int quote = peek();
  take();
  for (int c = peek(); c != quote; c = peek()) {
    if (c < 0 || c == '\n') fail("a text does not end");
    take();
    if (c == '\\') c = escaped();
    if (token.value.size() == ProtoToken::longest_kept) {
      token.value.clear();
      token.shortened = true;
    }
    if (!token.shortened) token.value += static_cast<char>(c);
  }
  take();
}

int ProtoLexer::escaped() {
  const int c = peek();
  if (c < 0) fail("a text does not end");
  take();
  if (c >= '0' && c <= '7') return digits(c - '0', 8, 2);
  switch (c) {
    case 'x':
    case 'X': return digits(0, 16, 2);
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    default: return c;  // quotes, backslash; \u is left as it is: names are ASCII
  }
}

int ProtoLexer::digits(int value, int base, int most) {
  for (int i = 0; i < most; ++i) {
    const int c = peek();
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 99;
    if (digit >= base) break;
    value = value * base + digit;
    take();
  }
  return value & 0xFF;
}

}  // namespace emplace::formats
