// The list of models: one source file and one line here make a new one.
#include <fmt/core.h>

#include "emplace/base/config.hpp"
#include "emplace/base/error.hpp"
#include "emplace/base/text.hpp"
#include "models.hpp"

namespace emplace {

std::span<const ZooEntry> zoo() {
  static const std::vector<ZooEntry> entries{
      inception_v3_entry(),
      nmt_entry(),
  };
  return entries;
}

Graph build_zoo_model(std::string_view specification, const std::string& place) {
  const std::string at = place.empty() ? fmt::format("zoo:{}", specification) : place;
  const std::size_t question = specification.find('?');
  const ZooEntry& entry = find_entry(zoo(), specification.substr(0, question), "model", at);
  ConfigTable options(at);
  if (question != std::string_view::npos) {
    for (const std::string& part : split(specification.substr(question + 1), '&')) {
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos || equals == 0)
        throw InputError(at, "expected key=value after '?', got {}", quote(part));
      const std::string key = part.substr(0, equals);
      if (options.contains(key)) throw InputError(at, "{} is given twice", quote(key));
      options.set(key, ConfigTable::parse_value(part.substr(equals + 1), at));
    }
  }
  return entry.build(options);
}

}  // namespace emplace
