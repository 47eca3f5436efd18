// Strongly connected components of a directed graph given as rows of successors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace emplace {

// Successors of vertex v are items[begin[v]] .. items[begin[v + 1]]; `begin` has one entry more than there are
// vertices. The number of each vertex's component, from 0 in the order in which they are found. Linear in vertices and
// edges, without recursion.
std::vector<std::uint32_t> strong_components(std::span<const std::uint32_t> begin,
                                             std::span<const std::uint32_t> items);

}  // namespace emplace
