// The first key of our JSON files: "emplace": "problem/1".
#pragma once

#include <string>

#include "formats/json/json.hpp"

namespace emplace::formats::json {

// InputError unless `root` is an object whose "emplace" is KIND/1; says what the file is instead where it can.
void check_header(Value root, const Place& place, const std::string& kind);

}  // namespace emplace::formats::json
