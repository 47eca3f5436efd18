#include "formats/json/members.hpp"

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats {

std::optional<json::Value> find_member(json::Value object, const json::Place& place, std::string_view key) {
  std::optional<json::Value> found;
  object.each_member(place, [&](std::string_view name, json::Value value) {
    if (name == key && !value.is_null()) found = value;
  });
  return found;
}

json::Value need_member(json::Value object, const json::Place& place, std::string_view key) {
  const auto found = find_member(object, place, key);
  if (!found) throw InputError(place.str(), "has no {}", quote(key));
  return *found;
}

}  // namespace emplace::formats
