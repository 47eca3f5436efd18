// Reads the devices of a placement JSON without its problem or machine.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace emplace::formats {

// The device of each op that the file names, by op name. InputError if the file is no placement JSON.
std::map<std::string, std::string> devices_of_placement_json(std::string_view text, const std::string& file);

}  // namespace emplace::formats
