// Human-readable text: suggestions for misspelt names, sizes and times with units, aligned tables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/base/types.hpp"

namespace emplace {

// The candidate with the smallest edit distance to `wanted`, or "" if none is close enough to be a likely misspelling.
std::string nearest_name(std::string_view wanted, std::span<const std::string> candidates);

// " (did you mean 'x'?)" or "" when nothing is near.
std::string did_you_mean(std::string_view wanted, std::span<const std::string> candidates);

// A text from an untrusted file with its control characters, and bytes that are not UTF-8, escaped as \xHH, so that it
// is safe to print on a terminal.
std::string printable(std::string_view text);
// A name from an untrusted file for one line of a message: printable, at most 80 bytes of it, in quotes.
std::string quote(std::string_view name);

// The text without blanks, tabs and carriage returns at its ends.
std::string_view trimmed(std::string_view text);

// The word quoted for a shell, if that is necessary.
std::string shell_word(const std::string& word);

std::string human_bytes(Bytes bytes);       // "1.50 GiB"
std::string human_seconds(double seconds);  // "12.3 ms", "4 min 05 s"
// Seconds of "90", "90s", "10m", "3h30m" or "1d12h": whole numbers of days, hours, minutes and seconds in this order.
// Returns nothing for any other text, for a total of zero and for more than 10^9 seconds.
std::optional<double> parse_duration(std::string_view text);
std::string human_count(double count);  // "23.8 M"

// A table whose columns are padded to their widest cell; the first column is aligned to the left, the others to the
// right. Lines have no trailing blanks.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  void add(std::vector<std::string> row);
  [[nodiscard]] std::string str() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Whether one of the texts is `text`.
bool has_text(std::span<const std::string> texts, std::string_view text);
std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);

// Parses the whole text as a number; returns false if it is anything else. Independent of the locale; leading blanks
// are refused.
bool parse_number(std::string_view text, std::int64_t& value);
bool parse_number(std::string_view text, double& value);

}  // namespace emplace
