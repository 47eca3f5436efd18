// An order of the ops in which producers come before consumers, or the cycle that forbids one. For the builder: they
// need the problem's lists of tensors, and nothing that is filled in after them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace {

// Kahn's algorithm, smallest ready id first. On a cycle the result is shorter than the number of ops.
std::vector<std::uint32_t> topological_order(const Problem& problem);

// A cycle among the ops that Kahn's algorithm left over, as "a -> b -> a" (shortened in the middle).
std::string describe_cycle(const Problem& problem, const std::vector<std::uint32_t>& sorted);

}  // namespace emplace
