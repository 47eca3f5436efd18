#include "formats/json/json_header.hpp"

#include "emplace/base/error.hpp"
#include "emplace/base/text.hpp"

namespace emplace::formats::json {

void check_header(Value root, const Place& place, const std::string& kind) {
  std::string found;
  root.each_member(place, [&](std::string_view key, Value value) {
    if (key == "emplace") found = value.text(Place(place, key));
  });
  if (found.empty())
    throw InputError(place.str(), "is not a {} file: the key 'emplace' with the text '{}/1' is missing", kind, kind);
  if (found == kind + "/1") return;
  if (found.starts_with(kind + "/"))
    throw InputError(Place(place, "emplace").str(), "has format {}, this program reads '{}/1'", quote(found), kind);
  throw InputError(Place(place, "emplace").str(), "must be '{}/1', got {}", kind, quote(found));
}

}  // namespace emplace::formats::json
