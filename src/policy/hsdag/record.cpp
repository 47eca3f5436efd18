#include "policy/hsdag/record.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "emplace/base/error.hpp"
#include "policy/common/drawn_sample.hpp"

namespace emplace::policy {

void note_clusters(const Clusters& clusters, std::vector<float>& observation) {
  observation.insert(observation.end(), clusters.of_node.begin(), clusters.of_node.end());
}

void read_clusters(const NodeGraph& graph, std::span<const float> observation, std::size_t& read, Clusters& clusters) {
  EMPLACE_CHECK(graph.nodes <= observation.size() - read, "a round without its clusters");
  const auto noted = observation.subspan(read, graph.nodes);
  read += graph.nodes;
  clusters.of_node.assign(noted.begin(), noted.end());
  complete(graph, std::ranges::max(clusters.of_node) + 1U, clusters);
}

std::vector<std::uint32_t> noted_clusters(std::size_t nodes, std::span<const float> observation) {
  std::vector<std::uint32_t> cluster(nodes);
  std::iota(cluster.begin(), cluster.end(), 0U);
  for (std::size_t count = nodes; !observation.empty();) {
    EMPLACE_CHECK(count <= observation.size(), "a round without its clusters");
    const auto noted = observation.first(count);
    observation = observation.subspan(count);
    for (std::uint32_t& each : cluster) each = static_cast<std::uint32_t>(noted[each]);
    count = static_cast<std::size_t>(std::ranges::max(noted)) + 1;
  }
  return cluster;
}

std::size_t check_clusters(const NodeGraph& graph, int passes, std::span<const float> observation) {
  Clusters clusters;
  NodeGraph coarser;
  std::vector<std::uint32_t> component;
  const NodeGraph* now = &graph;
  for (int pass = 0; pass < passes && now->edges() > 0; ++pass) {
    if (observation.size() < now->nodes)
      throw InputError("checkpoint", "a sample has clusters of {} of {} nodes in a round", observation.size(),
                       now->nodes);
    clusters.of_node.clear();
    for (const float cluster : observation.first(now->nodes)) {
      if (!(cluster >= 0 && cluster < static_cast<float>(now->nodes) && std::floor(cluster) == cluster))
        throw InputError("checkpoint", "a sample has a node in cluster {}, wanted a whole number below {}", cluster,
                         now->nodes);
      clusters.of_node.push_back(static_cast<std::uint32_t>(cluster));
    }
    components_within(*now, clusters.of_node, component);
    if (component != clusters.of_node)
      throw InputError("checkpoint", "a sample has clusters that are not connected, or not in their order");
    complete(*now, std::ranges::max(clusters.of_node) + 1U, clusters);
    observation = observation.subspan(now->nodes);
    NodeGraph next;
    coarsen(*now, clusters, next);
    coarser = std::move(next);
    now = &coarser;
  }
  check_count(observation.size(), 0, "observations after the clusters of a round");
  return now->nodes;
}

}  // namespace emplace::policy
