// The first key of our JSON files: "emplace": "problem/1".
#pragma once

#include <string>

#include "formats/json/json.hpp"

namespace emplace::formats::json {

// Returns the version of an object whose "emplace" is KIND/VERSION. Throws InputError for another kind, or a version
// that is not from 1 to `newest`; the message names the file's format if it is known.
int check_header(Value root, const Place& place, const std::string& kind, int newest = 1);

}  // namespace emplace::formats::json
