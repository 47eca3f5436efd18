// Members of JSON objects whose other keys do not matter.
#pragma once

#include <optional>
#include <string_view>

#include "formats/json/json.hpp"

namespace emplace::formats {

// The member of an object; nothing if it has none of this name, or null.
std::optional<json::Value> find_member(json::Value object, const json::Place& place, std::string_view key);
// InputError if it has none.
json::Value need_member(json::Value object, const json::Place& place, std::string_view key);

}  // namespace emplace::formats
