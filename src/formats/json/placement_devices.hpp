// Reads a placement JSON without its problem or machine.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "emplace/problem/placement.hpp"

namespace emplace::formats {

// The device of each op that the file names, by op name. InputError if the file is no placement JSON.
std::map<std::string, std::string> devices_of_placement_json(std::string_view text, const std::string& file);

// What a placement JSON holds, for `emplace inspect`. InputError for anything that a placement of some problem could
// not be: another version, repeated or unknown keys, deep nesting, values of a wrong kind, an order without a schedule.
struct PlacementContents {
  std::string problem;  // "" if the file names none
  std::optional<Schedule> schedule;
  std::size_t ops = 0;
  std::size_t ordered = 0;  // ops in the order; 0: no order
  std::map<std::string, std::size_t> ops_by_device;
};
PlacementContents placement_contents(std::string_view text, const std::string& file);

}  // namespace emplace::formats
