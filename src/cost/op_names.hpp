// Formats lists of names for sentences.
#pragma once

#include <span>
#include <string>

#include "emplace/graph/graph.hpp"

namespace emplace::cost {

// The first few items unchanged, then the number of the others.
std::string some_of(std::span<const std::string> items);

// The first few names of ops, quoted, each with the most similar name in `near_in` (nullptr: without it). Graphs are
// not searched if the comparison would take long (about 30,000 ops with names of 40 letters).
std::string some_ops(std::span<const std::string> names, const Graph* near_in);

}  // namespace emplace::cost
