// Finds the keys of the outermost object, by which formats are recognised, without building a tree, since files may be
// large.
#include <algorithm>

#include "formats/workload/workload.hpp"

namespace emplace::formats {

namespace {

constexpr std::string_view blanks = " \t\r\n";

// The position after the closing quote of the string whose opening quote is at `at`.
std::size_t after_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

}  // namespace

bool TextOutline::has(std::string_view key) const { return std::find(keys.begin(), keys.end(), key) != keys.end(); }

TextOutline outline_of(std::string_view text) {
  constexpr std::size_t most_keys = 32;
  TextOutline outline{.text = text, .keys = {}};
  std::size_t at = text.find_first_not_of(blanks);
  if (at == std::string_view::npos || (text[at] != '{' && text[at] != '[')) return outline;
  outline.bracket = text[at];
  if (outline.bracket == '[') at = text.find_first_not_of(blanks, at + 1);
  if (at == std::string_view::npos || text[at] != '{') return outline;

  for (std::size_t depth = 0; at < text.size() && outline.keys.size() < most_keys;) {
    const char c = text[at];
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) break;
    if (c != '"') {
      ++at;
      continue;
    }
    const std::size_t end = after_string(text, at);
    const std::size_t next = text.find_first_not_of(blanks, end);
    if (depth == 1 && next != std::string_view::npos && text[next] == ':') {
      outline.keys.push_back(text.substr(at + 1, end - at - 2));
      if (outline.keys.back() == "emplace") break;
    }
    at = end;
  }
  return outline;
}

}  // namespace emplace::formats
