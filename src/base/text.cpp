#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

namespace emplace {

namespace {

// Levenshtein distance; one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

// The number of characters of a UTF-8 text, taken as its width on the screen.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

namespace {

// The number of bytes of the UTF-8 character at the beginning of a text; 0 if the bytes there are none, or are one of
// the control characters U+0080 to U+009F.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool no_character = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);  // surrogates, end
  const bool control = first == 0xC2 && second < 0xA0;
  return overlong || no_character || control ? 0 : length;
}

}  // namespace

std::string nearest_name(std::string_view wanted, std::span<const std::string> candidates) {
  constexpr std::size_t longest_compared = 200;
  if (wanted.size() > longest_compared) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest_compared) continue;
    const bool prefix = !wanted.empty() && candidate.starts_with(wanted);
    const std::size_t distance = prefix ? 1 : edit_distance(wanted, candidate);
    if (distance < best_distance && distance < std::max(wanted.size(), candidate.size())) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view wanted, std::span<const std::string> candidates) {
  const std::string near = nearest_name(wanted, candidates);
  return near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near);
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool shown = length > 0 && first >= 0x20 && first != 0x7F;
    const std::size_t taken = std::max<std::size_t>(1, length);
    for (std::size_t i = 0; i < taken; ++i)
      if (shown)
        out += text[i];
      else
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    text.remove_prefix(taken);
  }
  return out;
}

std::string quote(std::string_view name) {
  constexpr std::size_t longest = 80;
  std::string_view shown = name.substr(0, longest);
  if (shown.size() < name.size())
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0x80) != 0)
      shown.remove_suffix(1);  // never cuts a UTF-8 character in two
  return fmt::format("'{}{}'", printable(shown),
                     shown.size() < name.size() ? fmt::format("... ({} characters)", name.size()) : "");
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string shell_word(const std::string& word) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string human_bytes(Bytes bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, units[unit]);
}

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  const double size = std::abs(seconds);
  if (size == 0) return "0 s";
  if (size < 1e-9) return fmt::format("{:.3g} ps", seconds * 1e12);
  if (size < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (size < 1e-3) return fmt::format("{:.4g} us", seconds * 1e6);
  if (size < 1) return fmt::format("{:.4g} ms", seconds * 1e3);
  if (size < 120) return fmt::format("{:.4g} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (size < 7200) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::optional<double> parse_duration(std::string_view text) {
  constexpr std::pair<char, double> units[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
  const char* at = text.data();
  const char* const end = at + text.size();
  double seconds = 0;
  std::size_t next = 0;  // the first unit that may still follow
  while (at != end) {
    std::uint32_t count = 0;
    const auto [after, error] = std::from_chars(at, end, count);
    if (error != std::errc()) return {};
    const bool bare = after == end && at == text.data();
    while (!bare && next < std::size(units) && (after == end || units[next].first != *after)) ++next;
    if (!bare && next == std::size(units)) return {};
    seconds += count * (bare ? 1 : units[next++].second);
    at = bare ? end : after + 1;
  }
  if (seconds == 0 || seconds > 1e9) return {};
  return seconds;
}

std::string human_count(double count) {
  constexpr const char* units[] = {"", " k", " M", " G", " T", " P"};
  std::size_t unit = 0;
  while (std::abs(count) >= 1000 && unit + 1 < std::size(units)) {
    count /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f}", count) : fmt::format("{:.4g}{}", count, units[unit]);
}

TextTable::TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}

void TextTable::add(std::vector<std::string> row) {
  row.resize(rows_.front().size());
  rows_.push_back(std::move(row));
}

std::string TextTable::str() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], columns(row[c]));
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - columns(row[c]), ' ');
      if (c > 0) line += "  ";
      line += c == 0 ? row[c] + padding : padding + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool has_text(std::span<const std::string> texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

namespace {
template <class T>
bool parse_whole_text(std::string_view text, T& value) {
  T parsed{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  value = parsed;
  return true;
}
}  // namespace

bool parse_number(std::string_view text, std::int64_t& value) { return parse_whole_text(text, value); }
bool parse_number(std::string_view text, double& value) {
  double parsed = 0;
  if (!parse_whole_text(text, parsed) || !std::isfinite(parsed)) return false;
  value = parsed;
  return true;
}

}  // namespace emplace
