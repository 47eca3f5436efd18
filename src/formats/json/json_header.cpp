#include "formats/json/json_header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats::json {

int check_header(Value root, const Place& place, const std::string& kind, int newest) {
  std::string found;
  root.each_member(place, [&](std::string_view key, Value value) {
    if (key == "emplace") found = value.text(Place(place, key));
  });
  std::vector<std::string> formats;
  for (int version = 1; version <= newest; ++version) formats.push_back(fmt::format("{}/{}", kind, version));
  const std::string wanted = "'" + join(formats, "' or '") + "'";
  if (found.empty())
    throw InputError(place.str(), "is not a {} file: the key 'emplace' with the text {} is missing", kind, wanted);
  const auto format = std::ranges::find(formats, found);
  if (format != formats.end()) return 1 + static_cast<int>(format - formats.begin());
  if (found.starts_with(kind + "/"))
    throw InputError(Place(place, "emplace").str(), "has format {}, this program reads {}", quote(found), wanted);
  throw InputError(Place(place, "emplace").str(), "must be {}, got {}", wanted, quote(found));
}

}  // namespace emplace::formats::json
