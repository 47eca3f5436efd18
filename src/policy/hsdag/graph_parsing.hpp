// Graphs of nodes that are parsed into clusters along their best edges (HSDAG,
// docs/papers/hsdag.md, section 2.4).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emplace/problem/problem.hpp"  // Lists

namespace emplace::policy {

// An undirected graph without self loops, each edge once.
struct NodeGraph {
  std::size_t nodes = 0;
  // E: the smaller end of each edge, and the larger one; in ascending order of both.
  std::vector<std::uint32_t> from, to;
  // Ahat = Dg^-1/2 (A + I) Dg^-1/2 with the degrees Dg of A + I (Kipf, Welling 2017): each node's neighbours and
  // itself, ascending, and the entries, 1 / sqrt(Dg_u Dg_v).
  Lists neighbours;
  std::vector<double> weights;

  [[nodiscard]] std::size_t edges() const { return from.size(); }
};

// `ends`: the edges in any order and direction, repetitions and loops allowed; they are overwritten.
void make_graph(std::size_t nodes, std::vector<std::pair<std::uint32_t, std::uint32_t>>& ends, NodeGraph& graph);

// C clusters of a graph's nodes, numbered by their smallest node.
struct Clusters {
  std::vector<std::uint32_t> of_node;
  Lists members;             // C rows of nodes, ascending
  Lists inner;               // C rows of edges within the cluster, ascending
  std::vector<float> alone;  // C: 1 where the cluster is one node, else 0

  [[nodiscard]] std::size_t count() const { return members.rows(); }
};

// Every node picks its incident edge of highest score (the first of equals); the clusters are the components that these
// edges connect. `scores` has E values.
template <class T>
void parse(const NodeGraph& graph, std::span<const T> scores, Clusters& clusters);
// The connected components when only edges within the sets `of_node` count. They equal `of_node` if those sets are
// connected and numbered by their smallest node.
void components_within(const NodeGraph& graph, std::span<const std::uint32_t> of_node,
                       std::vector<std::uint32_t>& component);
// Computes the other members from `of_node`, in which every number below `count` occurs.
void complete(const NodeGraph& graph, std::size_t count, Clusters& clusters);
// The graph of the clusters: edges between different ones, once each.
void coarsen(const NodeGraph& graph, const Clusters& clusters, NodeGraph& coarser);

}  // namespace emplace::policy
