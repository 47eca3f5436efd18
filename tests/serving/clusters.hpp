// Clusters for tests, and a maximum flow that shares nothing with that of the program.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "emplace/base/random.hpp"
#include "serving/cluster.hpp"

namespace emplace::test {

using serving::Cluster;
using serving::Interval;
using serving::Layers;
using serving::Layout;
using serving::Rate;

inline constexpr Rate token = 1'000'000;  // units of a rate
inline constexpr Rate fast = 1'000'000 * token;

// Nodes n0, n1, ... of these speeds in tokens/s, all joined by fast links.
inline Cluster cluster_of(Layers layers, const std::vector<std::vector<Rate>>& speeds, Rate link = fast) {
  Cluster cluster;
  cluster.name = "test";
  cluster.layers = layers;
  for (std::size_t n = 0; n < speeds.size(); ++n) {
    serving::Node node{.name = "n" + std::to_string(n), .type = "", .speed = {}};
    for (const Rate speed : speeds[n])
      if (node.speed.size() < layers) node.speed.push_back(speed * token);
    cluster.nodes.push_back(node);
  }
  const std::size_t count = speeds.size();
  cluster.link.assign(count * count, link);
  for (std::size_t n = 0; n < count; ++n) cluster.link[n * count + n] = 0;
  cluster.from_source.assign(count, fast);
  cluster.to_sink.assign(count, fast);
  return cluster;
}

// A small cluster of one to three types, in one or two regions between which links are slow, some of them missing.
inline Cluster random_cluster(std::uint64_t seed, std::size_t most_nodes, Layers most_layers) {
  Stream stream({.seed = seed, .purpose = Purpose::test});
  const auto between = [&](std::size_t least, std::size_t most) {
    return least + stream.below(static_cast<std::uint32_t>(most - least + 1));
  };
  std::vector<std::vector<Rate>> types(between(1, 3));
  const auto layers = static_cast<Layers>(between(1, most_layers));
  for (std::vector<Rate>& speeds : types) {
    const auto fastest = static_cast<Rate>(between(10, 60));
    for (std::size_t k = 1; k <= between(1, layers); ++k)
      speeds.push_back(std::max<Rate>(1, fastest / static_cast<Rate>(k) + static_cast<Rate>(between(0, 6)) - 3));
  }
  std::vector<std::vector<Rate>> speeds(between(1, most_nodes));
  for (std::vector<Rate>& each : speeds) each = types[between(0, types.size() - 1)];
  Cluster cluster = cluster_of(layers, speeds);
  if (between(0, 1) == 0) return cluster;
  const std::size_t count = speeds.size();
  std::vector<std::size_t> region(count);
  for (std::size_t& each : region) each = between(0, 1);
  for (std::size_t a = 0; a < count; ++a) {
    if (between(0, 3) == 0) cluster.from_source[a] = static_cast<Rate>(between(0, 20)) * token;
    if (between(0, 3) == 0) cluster.to_sink[a] = static_cast<Rate>(between(0, 20)) * token;
    for (std::size_t b = 0; b < a; ++b)
      if (region[a] != region[b])
        cluster.link[a * count + b] = cluster.link[b * count + a] = static_cast<Rate>(between(0, 15)) * token;
  }
  return cluster;
}

// The maximum flow by the definition: a matrix of capacities between the entries and exits of nodes, and one path after
// the other that still has room (Edmonds, Karp 1972).
inline Rate plain_throughput(const Cluster& cluster, const Layout& layout) {
  const std::size_t count = cluster.size(), source = 2 * count, sink = source + 1, vertices = sink + 1;
  std::vector<std::vector<Rate>> room(vertices, std::vector<Rate>(vertices, 0));
  for (std::size_t a = 0; a < count; ++a) {
    if (layout[a].empty()) continue;
    room[2 * a][2 * a + 1] = cluster.nodes[a].speed[layout[a].end - layout[a].first - 1];
    if (layout[a].first == 0) room[source][2 * a] = cluster.from_source[a];
    if (layout[a].end == cluster.layers) room[2 * a + 1][sink] = cluster.to_sink[a];
    for (std::size_t b = 0; b < count; ++b)
      if (!layout[b].empty() && layout[b].first == layout[a].end) room[2 * a + 1][2 * b] = cluster.link[a * count + b];
  }
  Rate flow = 0;
  for (;;) {
    std::vector<std::size_t> before(vertices, vertices), queue{source};
    before[source] = source;
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (std::size_t v = 0; v < vertices; ++v)
        if (before[v] == vertices && room[queue[i]][v] > 0) {
          before[v] = queue[i];
          queue.push_back(v);
        }
    if (before[sink] == vertices) return flow;
    Rate least = room[before[sink]][sink];
    for (std::size_t v = sink; v != source; v = before[v]) least = std::min(least, room[before[v]][v]);
    for (std::size_t v = sink; v != source; v = before[v]) {
      room[before[v]][v] -= least;
      room[v][before[v]] += least;
    }
    flow += least;
  }
}

// Every interval that a node can hold, the empty one first.
inline std::vector<Interval> intervals_of(const Cluster& cluster, std::size_t node) {
  std::vector<Interval> all{{}};
  for (Layers first = 0; first < cluster.layers; ++first)
    for (Layers end = first + 1; end <= cluster.layers && end - first <= cluster.most(node); ++end)
      all.push_back({first, end});
  return all;
}

inline Layout random_layout(const Cluster& cluster, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::test, .update = 1});
  Layout layout;
  for (std::size_t n = 0; n < cluster.size(); ++n) {
    const std::vector<Interval> all = intervals_of(cluster, n);
    layout.push_back(all[stream.below(static_cast<std::uint32_t>(all.size()))]);
  }
  return layout;
}

// The largest throughput of all layouts.
inline Rate best_of_all(const Cluster& cluster) {
  std::vector<std::vector<Interval>> choices;
  for (std::size_t n = 0; n < cluster.size(); ++n) choices.push_back(intervals_of(cluster, n));
  std::vector<std::size_t> at(cluster.size(), 0);
  Layout layout(cluster.size());
  Rate best = 0;
  for (;;) {
    for (std::size_t n = 0; n < cluster.size(); ++n) layout[n] = choices[n][at[n]];
    best = std::max(best, plain_throughput(cluster, layout));
    std::size_t n = 0;
    while (n < at.size() && ++at[n] == choices[n].size()) at[n++] = 0;
    if (n == at.size()) return best;
  }
}

}  // namespace emplace::test
