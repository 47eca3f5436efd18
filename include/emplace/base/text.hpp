// Text for people: nearest names, human-readable sizes and times, aligned tables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/base/units.hpp"

namespace emplace {

// The candidate with the smallest edit distance to `wanted`, or "" if none is close enough to be a likely slip.
std::string nearest_name(std::string_view wanted, std::span<const std::string> candidates);

// " (did you mean 'x'?)" or "" when nothing is near.
std::string did_you_mean(std::string_view wanted, std::span<const std::string> candidates);

// A text from a hostile file, made fit for a terminal: control characters escaped.
std::string printable(std::string_view text);
// A name from a hostile file, made fit for one line of a message: printable, shortened, in quotes.
std::string quote(std::string_view name);

std::string human_bytes(Bytes bytes);       // "1.50 GiB"
std::string human_seconds(double seconds);  // "12.3 ms", "4 min 05 s"
// Seconds of "90", "90s", "10m", "3h30m" or "1d12h": whole numbers of days, hours, minutes and seconds in this order.
// Nothing for another text, for no time at all, and for more than 10^9 seconds.
std::optional<double> parse_duration(std::string_view text);
std::string human_count(double count);  // "23.8 M"

// Columns padded to their widest cell; the first column to the left, the others to the right. No trailing blanks.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  void add(std::vector<std::string> row);
  [[nodiscard]] std::string str() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);

// Whole text as a number, or false. No locale, no leading blanks.
bool parse_number(std::string_view text, std::int64_t& value);
bool parse_number(std::string_view text, double& value);

}  // namespace emplace
