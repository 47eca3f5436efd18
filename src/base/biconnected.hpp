// Biconnected components of an undirected graph.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace emplace {

// Returns the number of the biconnected component of each edge, from 0: two edges are in one component if they are
// equal or lie on a common simple cycle. An edge joins two different vertices below `vertices`, and no pair occurs
// twice, whichever end is named first. Takes time linear in vertices and edges, without recursion (Hopcroft and Tarjan
// 1973).
std::vector<std::uint32_t> biconnected_components(std::size_t vertices,
                                                  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges);

}  // namespace emplace
