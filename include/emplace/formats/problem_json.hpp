// problem JSON and placement JSON (docs/formats.md): the contracts with other programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::formats {

// `file` begins every message. InputError on anything that docs/formats.md refuse.
Problem read_problem_json(std::string_view text, const std::string& file);
// Reads back to an equal Problem; seconds are written as exact decimals of the ticks. InputError for what the format
// cannot express: given transfer times and backward ops.
std::string write_problem_json(const Problem& problem);

struct PlacementFile {
  Placement placement;
  std::optional<Schedule> schedule;  // what the file says, if it says so
  std::string problem_name;          // may differ from the problem's: worth a warning
};
PlacementFile read_placement_json(std::string_view text, const std::string& file, const Problem& problem);
// The order is written where the placement has one.
std::string write_placement_json(const Problem& problem, const Placement& placement, Schedule schedule);

}  // namespace emplace::formats
