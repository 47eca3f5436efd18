#include "base/query.hpp"

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace {

NamedQuery parse_query(std::string_view text, const std::string& place) {
  const std::size_t question = text.find('?');
  NamedQuery query{std::string(text.substr(0, question)), ConfigTable(place)};
  if (question == std::string_view::npos) return query;
  for (const std::string& part : split(text.substr(question + 1), '&')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError(place, "expected key=value after '?', got {}", quote(part));
    const std::string key = part.substr(0, equals);
    if (query.options.contains(key)) throw InputError(place, "{} is given twice", quote(key));
    query.options.set(key, ConfigTable::parse_value(std::string_view(part).substr(equals + 1), place));
  }
  return query;
}

}  // namespace emplace
