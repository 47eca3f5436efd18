// Strongly connected components of a directed graph given as rows of successors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace emplace {

// Returns the component number of each vertex; components are numbered from 0 in the order in which they are found.
// The successors of vertex v are items[begin[v]] .. items[begin[v + 1] - 1]; `begin` has one entry more than there are
// vertices. Takes time linear in vertices and edges, without recursion.
std::vector<std::uint32_t> strong_components(std::span<const std::uint32_t> begin,
                                             std::span<const std::uint32_t> items);

}  // namespace emplace
