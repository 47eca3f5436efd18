// Rows of an integer program for Problem::max_cuts.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "search/exact/integer_program.hpp"

namespace emplace::search {

// Adds a column for each tensor between units, which is at least 1 if it is cut, and the limit of their sum; nothing if
// cuts are not limited. column(unit, device) is 1 if the unit is on the device; below 0: it cannot be.
void add_cut_rows(IntegerProgram& program, const Problem& problem, const std::vector<std::uint32_t>& unit_of_op,
                  const std::function<int(std::uint32_t unit, std::size_t device)>& column);

}  // namespace emplace::search
