// Lists of names in sentences.
#pragma once

#include <span>
#include <string>

#include "emplace/graph/graph.hpp"

namespace emplace::cost {

// The first few as they are, and how many more there are.
std::string some_of(std::span<const std::string> items);

// The first few names of ops, quoted, each with the nearest name in `near_in` (nullptr: without). Graphs are not
// searched where comparing letter by letter would take long (about 30,000 ops with names of 40 letters).
std::string some_ops(std::span<const std::string> names, const Graph* near_in);

}  // namespace emplace::cost
