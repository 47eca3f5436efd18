// Stores the clusters of an HSDAG round in its observation: for each parsing pass the cluster of each node. They are
// stored because later parameters would parse others.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "policy/hsdag/graph_parsing.hpp"

namespace emplace::policy {

void note_clusters(const Clusters& clusters, std::vector<float>& observation);
// Reads the clusters of the graph's nodes from position `read` on, and moves `read` behind them. Throws BugError if the
// observation is too short.
void read_clusters(const NodeGraph& graph, std::span<const float> observation, std::size_t& read, Clusters& clusters);
// The cluster of each of the graph's `nodes` after all passes of an observation.
std::vector<std::uint32_t> noted_clusters(std::size_t nodes, std::span<const float> observation);
// Returns the final number of clusters. Throws InputError for an observation that `passes` parsing passes over the
// graph cannot produce.
std::size_t check_clusters(const NodeGraph& graph, int passes, std::span<const float> observation);

}  // namespace emplace::policy
