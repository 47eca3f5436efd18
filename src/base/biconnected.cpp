#include "base/biconnected.hpp"

#include <algorithm>
#include <limits>

namespace emplace {

namespace {

using UndirectedEdges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

class BlockSearch {
 public:
  BlockSearch(std::size_t vertices, const UndirectedEdges& edges)
      : edges_(edges), edges_of_(vertices), entered_(vertices, 0), low_(vertices, 0), block_(edges.size()) {
    for (std::uint32_t e = 0; e < edges.size(); ++e)
      for (const std::uint32_t v : {edges[e].first, edges[e].second}) edges_of_[v].push_back(e);
  }

  std::vector<std::uint32_t> run() {
    for (std::uint32_t v = 0; v < edges_of_.size(); ++v)
      if (entered_[v] == 0) search_from(v);
    return std::move(block_);
  }

 private:
  static constexpr std::uint32_t no_edge = std::numeric_limits<std::uint32_t>::max();
  struct Visit {
    std::uint32_t vertex, edge;  // the edge by which the vertex was reached
    std::size_t next = 0;        // position in edges_of_
  };

  void enter(std::uint32_t vertex, std::uint32_t edge) {
    entered_[vertex] = low_[vertex] = ++clock_;
    path_.push_back({vertex, edge});
  }

  void search_from(std::uint32_t root) {
    enter(root, no_edge);
    while (!path_.empty()) {
      Visit& at = path_.back();
      if (at.next < edges_of_[at.vertex].size())
        follow(edges_of_[at.vertex][at.next++]);
      else
        leave();
    }
  }

  void follow(std::uint32_t edge) {
    const auto [vertex, from, next] = path_.back();
    if (edge == from) return;
    const std::uint32_t other = edges_[edge].first == vertex ? edges_[edge].second : edges_[edge].first;
    if (entered_[other] == 0) {
      open_.push_back(edge);
      enter(other, edge);
    } else if (entered_[other] < entered_[vertex]) {
      open_.push_back(edge);
      low_[vertex] = std::min(low_[vertex], entered_[other]);
    }
  }

  // If no edge leads from below the vertex to above its parent, the edges since the one between them are a component.
  void leave() {
    const Visit done = path_.back();
    path_.pop_back();
    if (path_.empty()) return;
    const std::uint32_t parent = path_.back().vertex;
    low_[parent] = std::min(low_[parent], low_[done.vertex]);
    if (low_[done.vertex] < entered_[parent]) return;
    for (std::uint32_t edge = no_edge; edge != done.edge; open_.pop_back()) block_[edge = open_.back()] = blocks_;
    ++blocks_;
  }

  const UndirectedEdges& edges_;
  std::vector<std::vector<std::uint32_t>> edges_of_;
  std::vector<std::uint32_t> entered_, low_;  // by time; entered_ 0: not yet
  std::vector<std::uint32_t> block_;
  std::vector<Visit> path_;
  std::vector<std::uint32_t> open_;  // edges without a component
  std::uint32_t clock_ = 0, blocks_ = 0;
};

}  // namespace

std::vector<std::uint32_t> biconnected_components(std::size_t vertices, const UndirectedEdges& edges) {
  return BlockSearch(vertices, edges).run();
}

}  // namespace emplace
