// Problem JSON and placement JSON (docs/formats.md), the formats for exchange with other programs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::formats {

// Reads problem/1 and problem/2. Every message begins with `file`. Throws InputError for anything that docs/formats.md
// does not allow. `lacks`, if given, gets a sentence about what a problem/1 file lacks.
Problem read_problem_json(std::string_view text, const std::string& file, std::vector<std::string>* lacks = nullptr);
// As problem/2. Reading the text gives an equal Problem; seconds are written as exact decimals of the ticks. Throws
// InputError for a problem that the format cannot express: one with given transfer times or backward ops.
std::string write_problem_json(const Problem& problem);
// Hands the same text over in pieces, so that a large problem need not be in memory a second time.
void write_problem_json(const Problem& problem, const std::function<void(std::string_view piece)>& take);

struct PlacementFile {
  Placement placement;
  std::optional<Schedule> schedule;  // none if the file names no schedule
  std::string problem_name;          // callers should warn if it differs from the problem's name
};
PlacementFile read_placement_json(std::string_view text, const std::string& file, const Problem& problem);
// Also writes the placement's order, if it has one.
std::string write_placement_json(const Problem& problem, const Placement& placement, Schedule schedule);

}  // namespace emplace::formats
