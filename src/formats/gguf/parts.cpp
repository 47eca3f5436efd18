#include "formats/gguf/parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/text.hpp"

namespace emplace::formats {

std::vector<std::string> gguf_parts(const std::string& path) {
  // "-00001-of-00003.gguf"
  constexpr std::string_view form = "-00000-of-00000.gguf";
  if (path.size() <= form.size()) return {path};
  const std::string end = path.substr(path.size() - form.size());
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool is_digit = end[i] >= '0' && end[i] <= '9';
    if (form[i] == '0' ? !is_digit : end[i] != form[i]) return {path};
  }
  std::int64_t count = 0;
  parse_number(std::string_view(end).substr(10, 5), count);
  std::vector<std::string> parts;
  for (std::int64_t i = 1; i <= std::max<std::int64_t>(1, count); ++i)
    parts.push_back(fmt::format("{}-{:05}-of-{:05}.gguf", path.substr(0, path.size() - form.size()), i, count));
  return parts;
}

}  // namespace emplace::formats
