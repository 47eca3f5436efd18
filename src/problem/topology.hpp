// A topological order of the ops, or a cycle because of which there is none. For the builder: the functions read only
// the problem's lists of tensors, not the fields that are filled in later.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace {

// Kahn's algorithm, smallest ready id first. If there is a cycle, the result has fewer entries than there are ops.
std::vector<std::uint32_t> topological_order(const Problem& problem);

// A cycle among the ops that Kahn's algorithm left over, as "a -> b -> a" (shortened in the middle).
std::string describe_cycle(const Problem& problem, const std::vector<std::uint32_t>& sorted);

}  // namespace emplace
