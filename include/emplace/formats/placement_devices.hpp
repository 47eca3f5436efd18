// The devices of a placement JSON whose machine is not at hand.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace emplace {

// The devices' names that the file's "ops" give, however many. InputError where it is no placement JSON.
std::set<std::string> devices_of_placement_json(std::string_view text, const std::string& file);

}  // namespace emplace
