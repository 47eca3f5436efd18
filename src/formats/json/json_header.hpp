// The first key of our JSON files: "emplace": "problem/1".
#pragma once

#include <string>

#include "formats/json/json.hpp"

namespace emplace::formats::json {

// Throws InputError unless `root` is an object whose "emplace" is KIND/1; the message names the file's format if known.
void check_header(Value root, const Place& place, const std::string& kind);

}  // namespace emplace::formats::json
