#include "serving/flow.hpp"

#include <algorithm>

namespace emplace::serving {

namespace {

constexpr std::uint32_t unseen = std::numeric_limits<std::uint32_t>::max();

}  // namespace

FlowEvaluator::FlowEvaluator(const Cluster& cluster)
    : cluster_(cluster),
      out_(2 + 2 * cluster.size()),
      level_(out_.size(), unseen),
      next_(out_.size(), 0),
      begins_(cluster.layers + 1) {}

void FlowEvaluator::add_arc(std::uint32_t from, std::uint32_t to, Rate rate) {
  for (const std::uint32_t vertex : {from, to})
    if (out_[vertex].empty()) used_.push_back(vertex);
  out_[from].push_back(static_cast<std::uint32_t>(arcs_.size()));
  arcs_.push_back({to, rate});
  out_[to].push_back(static_cast<std::uint32_t>(arcs_.size()));
  arcs_.push_back({from, 0});
}

void FlowEvaluator::build(const Layout& layout) {
  for (const std::uint32_t vertex : used_) out_[vertex].clear();
  used_.clear();
  arcs_.clear();
  for (NodeIndex node = 0; node < layout.size(); ++node)
    if (!layout[node].empty()) begins_[layout[node].first].push_back(node);
  for (NodeIndex node = 0; node < layout.size(); ++node) {
    const Interval held = layout[node];
    if (held.empty()) continue;
    add_arc(entry(node), exit(node), cluster_.nodes[node].speed[held.size() - 1]);
    if (held.first == 0 && cluster_.from_source[node] > 0) add_arc(source, entry(node), cluster_.from_source[node]);
    if (held.end == cluster_.layers) {
      if (cluster_.to_sink[node] > 0) add_arc(exit(node), sink, cluster_.to_sink[node]);
      continue;
    }
    for (const NodeIndex follower : begins_[held.end])
      if (const Rate rate = cluster_.between(node, follower); rate > 0) add_arc(exit(node), entry(follower), rate);
  }
  for (const Interval& held : layout)
    if (!held.empty()) begins_[held.first].clear();
}

bool FlowEvaluator::find_levels() {
  for (const std::uint32_t vertex : used_) level_[vertex] = unseen;
  level_[source] = 0;
  level_[sink] = unseen;
  queue_.assign(1, source);
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const std::uint32_t vertex = queue_[i];
    for (const std::uint32_t arc : out_[vertex])
      if (const Arc& a = arcs_[arc]; a.left > 0 && level_[a.to] == unseen) {
        level_[a.to] = level_[vertex] + 1;
        if (a.to == sink) return true;  // all vertices that can lie before it have their level
        queue_.push_back(a.to);
      }
  }
  return false;
}

Rate FlowEvaluator::push(std::uint32_t vertex, Rate most) {
  if (vertex == sink) return most;
  Rate sent = 0;
  for (std::uint32_t& i = next_[vertex]; i < out_[vertex].size(); ++i) {
    const std::uint32_t arc = out_[vertex][i];
    const std::uint32_t to = arcs_[arc].to;
    if (arcs_[arc].left == 0 || level_[to] != level_[vertex] + 1) continue;
    const Rate more = push(to, std::min(most - sent, arcs_[arc].left));
    arcs_[arc].left -= more;
    arcs_[arc ^ 1U].left += more;
    sent += more;
    if (sent == most) return sent;  // the arc may have room left
  }
  return sent;
}

Rate FlowEvaluator::maximise(Rate enough) {
  Rate flow = 0;
  while (flow < enough && find_levels()) {
    for (const std::uint32_t vertex : used_) next_[vertex] = 0;
    flow += push(source, enough - flow);
  }
  return flow;
}

Rate FlowEvaluator::throughput(const Layout& layout, FlowDetails* details) {
  build(layout);
  const Rate flow = maximise(std::numeric_limits<Rate>::max());
  if (details != nullptr) {
    details->node.assign(layout.size(), 0);
    details->links.clear();
    for (std::size_t arc = 0; arc < arcs_.size(); arc += 2) {
      const std::uint32_t from = arcs_[arc + 1].to, to = arcs_[arc].to;
      const Rate passed = arcs_[arc + 1].left;
      if (from > sink && to == from + 1 && from % 2 == 0)
        details->node[(from - 2) / 2] = passed;
      else
        details->links.push_back({from == source ? no_node : (from - 3) / 2, to == sink ? no_node : (to - 2) / 2,
                                  passed, passed + arcs_[arc].left});
    }
  }
  return flow;
}

bool FlowEvaluator::reaches(const Layout& layout, Rate wanted) {
  build(layout);
  return maximise(wanted) >= wanted;
}

}  // namespace emplace::serving
