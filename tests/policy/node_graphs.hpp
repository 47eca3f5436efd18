// Graphs of units for tests of HSDAG's graph algorithms.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "policy/hsdag/graph_parsing.hpp"

namespace emplace::test {

using Ends = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

inline policy::NodeGraph graph_of(std::size_t nodes, Ends ends) {
  policy::NodeGraph graph;
  policy::make_graph(nodes, ends, graph);
  return graph;
}
inline policy::NodeGraph path(std::uint32_t nodes) {
  Ends ends;
  for (std::uint32_t node = 1; node < nodes; ++node) ends.emplace_back(node - 1, node);
  return graph_of(nodes, ends);
}

}  // namespace emplace::test
