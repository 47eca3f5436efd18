// How the neighbourhood of each node grows (HSDAG, Duan et al. 2024, docs/papers/hsdag.md, section 2.2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/base/random.hpp"
#include "policy/hsdag/graph_parsing.hpp"

namespace emplace::policy {

// The largest number of nodes for which all distances are computed.
inline constexpr std::size_t fractal_exact_nodes = 4096;

// N: D(v), the least-squares slope of log N(v, r) on log r, where N(v, r) is the number of nodes within distance r of
// v, without v, and r = 1, 2, ... up to the largest distance from v; 0 with fewer than two radii. It computes the
// distances of all pairs in time nodes x (nodes + edges).
std::vector<float> fractal_dimensions(const NodeGraph& graph);

// The same, estimated in time (nodes + edges) x a constant. For small radii N(v, r) is counted by a search from v that
// stops after `edges` edges. For larger radii the distances of the component's remaining nodes are assumed to be
// distributed like those of `sources` nodes, drawn uniformly from the component. The last radius is the distance to the
// farthest of these sources and of the two ends of a long path (the node farthest from the first source, and the node
// farthest from that one). The value is exact for components that the first search covers.
struct FractalSampling {
  std::size_t sources = 128;
  std::size_t edges = 512;
};
std::vector<float> fractal_dimensions(const NodeGraph& graph, const FractalSampling& sampling, Stream random);

}  // namespace emplace::policy
