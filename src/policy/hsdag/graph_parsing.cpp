#include "policy/hsdag/graph_parsing.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "emplace/base/error.hpp"

namespace emplace::policy {

namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

// Union-find with path halving. join() keeps the smaller root, so a root is its component's smallest node.
std::uint32_t root_of(std::vector<std::uint32_t>& parent, std::uint32_t node) {
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
  return node;
}
void join(std::vector<std::uint32_t>& parent, std::uint32_t a, std::uint32_t b) {
  a = root_of(parent, a);
  b = root_of(parent, b);
  parent[std::max(a, b)] = std::min(a, b);
}
void start(std::size_t nodes, std::vector<std::uint32_t>& parent) {
  parent.resize(nodes);
  std::iota(parent.begin(), parent.end(), 0U);
}
// Replaces each root by its position among the roots, in all nodes, and returns their number. A root comes before its
// members.
std::size_t number(std::vector<std::uint32_t>& parent) {
  std::uint32_t count = 0;
  for (std::uint32_t node = 0; node < parent.size(); ++node)
    parent[node] = parent[node] == node ? count++ : parent[parent[node]];
  return count;
}
// Makes the parent of each node its root, as number() needs it.
void flatten(std::vector<std::uint32_t>& parent) {
  for (std::uint32_t node = 0; node < parent.size(); ++node) parent[node] = root_of(parent, node);
}

// Lists with one row for each key below `count`: the items 0, 1, ... that have it. Items with the key `none` are in no
// row.
template <class Key>
void list_by(std::size_t count, std::size_t items, Key&& key, Lists& lists) {
  lists.begin.assign(count + 1, 0);
  for (std::uint32_t item = 0; item < items; ++item)
    if (const std::uint32_t k = key(item); k != none) ++lists.begin[k + 1];
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  lists.items.resize(lists.begin.back());
  // Filled from the back, so that the ends become the begins.
  for (auto item = static_cast<std::uint32_t>(items); item-- > 0;)
    if (const std::uint32_t k = key(item); k != none) lists.items[--lists.begin[k + 1]] = item;
  for (std::size_t k = 0; k < count; ++k) lists.begin[k] = lists.begin[k + 1];
  lists.begin[count] = static_cast<std::uint32_t>(lists.items.size());
}

}  // namespace

void make_graph(std::size_t nodes, std::vector<std::pair<std::uint32_t, std::uint32_t>>& ends, NodeGraph& graph) {
  for (auto& [a, b] : ends)
    if (a > b) std::swap(a, b);
  std::erase_if(ends, [](const auto& edge) { return edge.first == edge.second; });
  std::ranges::sort(ends);
  ends.erase(std::ranges::unique(ends).begin(), ends.end());
  graph.nodes = nodes;
  graph.from.clear();
  graph.to.clear();
  std::vector<std::uint32_t>& begin = graph.neighbours.begin;
  begin.assign(nodes + 1, 1);
  begin[0] = 0;
  for (const auto& [a, b] : ends) {
    EMPLACE_CHECK(b < nodes, "an edge to node {} of {}", b, nodes);
    graph.from.push_back(a);
    graph.to.push_back(b);
    ++begin[a + 1];
    ++begin[b + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t>& items = graph.neighbours.items;
  items.resize(begin.back());
  // Each row gets the node's smaller neighbours, which are first ends of edges and so come in ascending order, then the
  // node itself, then the larger neighbours. While rows are filled, `begin` holds the write positions; it is restored
  // afterwards.
  for (std::size_t e = 0; e < ends.size(); ++e) items[begin[graph.to[e]]++] = graph.from[e];
  for (std::uint32_t node = 0; node < nodes; ++node) items[begin[node]++] = node;
  for (std::size_t e = 0; e < ends.size(); ++e) items[begin[graph.from[e]]++] = graph.to[e];
  for (std::size_t node = nodes; node > 0; --node) begin[node] = begin[node - 1];
  begin[0] = 0;
  graph.weights.resize(items.size());
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (std::uint32_t i = begin[node]; i < begin[node + 1]; ++i)
      graph.weights[i] = 1 / std::sqrt(static_cast<double>(graph.neighbours[node].size()) *
                                       static_cast<double>(graph.neighbours[items[i]].size()));
}

template <class T>
void parse(const NodeGraph& graph, std::span<const T> scores, Clusters& clusters) {
  EMPLACE_CHECK(scores.size() == graph.edges());
  static thread_local std::vector<std::uint32_t> best;
  best.assign(graph.nodes, none);
  for (std::uint32_t e = 0; e < scores.size(); ++e)
    for (const std::uint32_t node : {graph.from[e], graph.to[e]})
      if (best[node] == none || scores[e] > scores[best[node]]) best[node] = e;
  std::vector<std::uint32_t>& parent = clusters.of_node;
  start(graph.nodes, parent);
  for (const std::uint32_t e : best)
    if (e != none) join(parent, graph.from[e], graph.to[e]);
  flatten(parent);
  complete(graph, number(parent), clusters);
}

template void parse(const NodeGraph&, std::span<const float>, Clusters&);
template void parse(const NodeGraph&, std::span<const double>, Clusters&);

void components_within(const NodeGraph& graph, std::span<const std::uint32_t> of_node,
                       std::vector<std::uint32_t>& component) {
  start(graph.nodes, component);
  for (std::size_t e = 0; e < graph.edges(); ++e)
    if (of_node[graph.from[e]] == of_node[graph.to[e]]) join(component, graph.from[e], graph.to[e]);
  flatten(component);
  number(component);
}

void complete(const NodeGraph& graph, std::size_t count, Clusters& clusters) {
  const std::vector<std::uint32_t>& of_node = clusters.of_node;
  list_by(
      count, graph.nodes, [&](std::uint32_t node) { return of_node[node]; }, clusters.members);
  list_by(
      count, graph.edges(),
      [&](std::uint32_t e) {
        const std::uint32_t a = of_node[graph.from[e]];
        return a == of_node[graph.to[e]] ? a : none;
      },
      clusters.inner);
  clusters.alone.resize(count);
  for (std::size_t c = 0; c < count; ++c) clusters.alone[c] = clusters.members[c].size() == 1 ? 1.0F : 0.0F;
}

void coarsen(const NodeGraph& graph, const Clusters& clusters, NodeGraph& coarser) {
  static thread_local std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  ends.clear();
  for (std::size_t e = 0; e < graph.edges(); ++e)
    ends.emplace_back(clusters.of_node[graph.from[e]], clusters.of_node[graph.to[e]]);
  make_graph(clusters.count(), ends, coarser);
}

}  // namespace emplace::policy
