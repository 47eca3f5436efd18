// How the neighbourhood of each node grows (HSDAG, Duan et al. 2024, docs/papers/hsdag.md, section 2.2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/base/random.hpp"
#include "policy/hsdag/graph_parsing.hpp"

namespace emplace::policy {

// Nodes up to which all distances are computed.
inline constexpr std::size_t fractal_exact_nodes = 4096;

// N: D(v), the least-squares slope of log N(v, r) on log r over the radii r = 1, 2, ... at which nodes become reachable
// from v, N(v, r) of them within r, v not counted; 0 with fewer than two radii. All pairs: time nodes x (nodes +
// edges).
std::vector<float> fractal_dimensions(const NodeGraph& graph);

// The same, estimated in time (nodes + edges) x a constant. Close by, N(v, r) is counted: by a search from v that ends
// when it has looked at so many edges. Farther out, the nodes of v's component that are left are spread over radii as
// are those among `sources` of them, drawn evenly from each component; the last radius is the distance to the farthest
// of these sources and of two ends of a long path (the farthest from the first source, and the farthest from that).
// Components that the first search covers have their exact value.
struct FractalSampling {
  std::size_t sources = 128;
  std::size_t edges = 512;
};
std::vector<float> fractal_dimensions(const NodeGraph& graph, const FractalSampling& sampling, Stream random);

}  // namespace emplace::policy
