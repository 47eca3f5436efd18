#include "policy/hsdag/round.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "policy/common/categorical_draw.hpp"
#include "policy/common/network_policy.hpp"

namespace emplace::policy {

namespace {

// The groups that were drawn, numbered by their smallest node.
void set_groups(const NodeGraph& graph, std::span<const std::uint8_t> groups, Clusters& clusters) {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  std::array<std::uint32_t, 256> number{};
  number.fill(none);
  std::uint32_t count = 0;
  clusters.of_node.resize(graph.nodes);
  for (std::size_t node = 0; node < graph.nodes; ++node) {
    std::uint32_t& of_group = number[groups[node]];
    if (of_group == none) of_group = count++;
    clusters.of_node[node] = of_group;
  }
  complete(graph, count, clusters);
}

// Each node is a cluster.
void set_alone(const NodeGraph& graph, Clusters& clusters) {
  if (clusters.of_node.size() == graph.nodes && clusters.count() == graph.nodes) return;
  clusters.of_node.resize(graph.nodes);
  std::iota(clusters.of_node.begin(), clusters.of_node.end(), 0U);
  complete(graph, graph.nodes, clusters);
}

// C x D, in the tape's memory: 1 for devices that can run all nodes of a cluster.
std::span<const std::uint8_t> allowed_of(nn::Tape<float>& tape, const HsdagPart& part, const HsdagLevels& levels,
                                         std::size_t devices) {
  const std::span<std::uint8_t> allowed = tape.array<std::uint8_t>(levels.cluster_count * devices);
  std::ranges::fill(allowed, std::uint8_t{1});
  for (std::size_t node = 0; node < part.graph.nodes; ++node)
    for (std::size_t d = 0; d < devices; ++d)
      if (!part.units->allows(node, d)) allowed[levels.cluster_of_node[node] * devices + d] = 0;
  for (std::size_t c = 0; c < levels.cluster_count; ++c) allow_first_if_none(allowed.subspan(c * devices, devices));
  return allowed;
}

}  // namespace

HsdagGrouping hsdag_grouping(const std::string& grouping) {
  if (grouping == "parsed") return HsdagGrouping::parsed;
  return grouping == "none" ? HsdagGrouping::none : HsdagGrouping::learned;
}

HsdagRound hsdag_round(nn::Tape<float>& tape, const HsdagNetwork& network, HsdagGrouping grouping, int passes,
                       const HsdagPart& part, std::span<const float> x, const nn::Dropout& dropout, HsdagLevels& levels,
                       const HsdagDecisions& decisions) {
  HsdagPass<float> pass(tape, network, {x.data(), part.graph.nodes, network.sizes().features}, dropout);
  HsdagRound round;
  if (grouping == HsdagGrouping::parsed) {
    pool_parsed(pass, part.graph, passes, levels,
                [&](std::size_t, const NodeGraph& graph, nn::Var scores, Clusters& clusters) {
                  decisions.parsed(graph, tape.value(scores).all(), clusters);
                });
  } else {
    levels.clusters.resize(1);
    Clusters& clusters = levels.clusters.front();
    if (grouping == HsdagGrouping::learned) {
      const nn::Var logits = pass.group_logits(part.graph);
      require_finite(tape.value(logits).all());
      round.groups = nn::categorical<float>(tape, logits, {});
      set_groups(part.graph, decisions.grouped(round.groups), clusters);
    } else {
      set_alone(part.graph, clusters);
    }
    pass.pool(part.graph, clusters, {});
    levels.cluster_of_node = clusters.of_node;
    levels.cluster_count = clusters.count();
  }
  const auto result = pass.finish();
  require_finite(tape.value(result.logits).all());
  round.devices = nn::categorical<float>(tape, result.logits, allowed_of(tape, part, levels, network.sizes().devices));
  round.embedding = tape.value(result.embedding);
  return round;
}

void grow(std::vector<float>& x, nn::Matrix<const float> embedding, const HsdagLevels& levels) {
  const std::size_t columns = embedding.columns;
  for (std::size_t node = 0; node < levels.cluster_of_node.size(); ++node) {
    float* const row = x.data() + node * columns;
    const float* const z = embedding.row(levels.cluster_of_node[node]).data();
    for (std::size_t j = 0; j < columns; ++j) row[j] += z[j];
  }
}

}  // namespace emplace::policy
