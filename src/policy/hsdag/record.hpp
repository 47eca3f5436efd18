// The clusters that a round of HSDAG was parsed into, as its observation has them: of each parsing pass the cluster of
// each of its nodes, since later parameters would parse other ones.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "policy/hsdag/graph_parsing.hpp"

namespace emplace::policy {

void note_clusters(const Clusters& clusters, std::vector<float>& observation);
// The clusters of the graph's nodes that stand at `read`, which moves on behind them. A bug where there are none.
void read_clusters(const NodeGraph& graph, std::span<const float> observation, std::size_t& read, Clusters& clusters);
// How many clusters there are in the end. InputError for an observation that no `passes` parses of the graph leave.
std::size_t check_clusters(const NodeGraph& graph, int passes, std::span<const float> observation);

}  // namespace emplace::policy
