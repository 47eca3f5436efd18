#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "graph/ops/op_row.hpp"
#include "graph/passes/partition.hpp"

namespace emplace {

namespace {

struct Edge {
  std::uint32_t from, to;
  Bytes bytes;
};

class Coarsener {
 public:
  Coarsener(const Graph& graph, std::size_t groups)
      : graph_(graph), wanted_(groups), count_(graph.ops.size()), sets_(graph.ops.size()) {
    weigh();
    for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
      const GraphOp& op = graph.ops[i];
      for (const Operand& input : op.inputs)
        if (input.is_tensor() && !graph.tensors[input.index].producer.is_none())
          edges_.push_back(
              {graph.tensors[input.index].producer.value, i, graph.tensors[input.index].bytes().value_or(0)});
      for (const OpId before : op.after) edges_.push_back({before.value, i, 0});
    }
  }

  PassResult run() {
    limit_ = 2 * total_weight_ / static_cast<double>(wanted_);
    while (count_ > wanted_) {
      const std::size_t before = count_;
      simplify_edges();
      contract_trees();
      if (count_ > wanted_ && before - count_ <= before / 8) {
        simplify_edges();
        contract_neighbours();
      }
      if (before - count_ <= before / 16) limit_ *= 2;
    }
    return merge_ops(graph_, partition_of(sets_, graph_.ops.size()));
  }

 private:
  // The weight of an op is the sum of its shares of all FLOPs, bytes and ops.
  void weigh() {
    std::vector<OpCost> costs;
    double flops = 0, bytes = 0;
    const auto traffic = [](const OpCost& cost) {
      return static_cast<double>(cost.bytes_read) + static_cast<double>(cost.bytes_written);
    };
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      costs.push_back(cost_of(graph_, OpId{i}));
      flops += costs.back().flops;
      bytes += traffic(costs.back());
    }
    for (const OpCost& cost : costs) {
      double weight = 1.0 / static_cast<double>(graph_.ops.size());
      if (flops > 0 && std::isfinite(flops)) weight += cost.flops / flops;
      if (bytes > 0) weight += traffic(cost) / bytes;
      weight_.push_back(weight);
      total_weight_ += weight;
    }
  }

  // Replaces the ends of edges by the roots of their sets, removes edges inside a set, and adds up parallel edges;
  // sorts the edges by (from, to).
  void simplify_edges() {
    std::size_t kept = 0;
    for (const Edge& edge : edges_) {
      const std::uint32_t from = sets_.find(edge.from), to = sets_.find(edge.to);
      if (from != to) edges_[kept++] = {from, to, edge.bytes};
    }
    edges_.resize(kept);
    std::sort(edges_.begin(), edges_.end(),
              [](const Edge& a, const Edge& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
    kept = 0;
    for (const Edge& edge : edges_) {
      if (kept > 0 && edges_[kept - 1].from == edge.from && edges_[kept - 1].to == edge.to)
        edges_[kept - 1].bytes = add_bytes(edges_[kept - 1].bytes, edge.bytes);
      else
        edges_[kept++] = edge;
    }
    edges_.resize(kept);
  }

  bool join(std::uint32_t a, std::uint32_t b) {
    a = sets_.find(a);
    b = sets_.find(b);
    if (count_ == wanted_ || a == b || weight_[a] + weight_[b] > limit_) return false;
    const double weight = weight_[a] + weight_[b];
    weight_[sets_.join(a, b)] = weight;
    --count_;
    return true;
  }

  static void sort_by_bytes(std::vector<Edge>& edges) {
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
      return std::tuple(-a.bytes, a.from, a.to) < std::tuple(-b.bytes, b.from, b.to);
    });
  }

  // A cluster that grew along edges to only successors is a tree that every path leaves at its root; one that grew
  // along edges from only predecessors is a tree that every path enters at its root. Neither can be on a cycle, but a
  // path could leave and enter again a cluster of both kinds.
  void contract_trees() {
    std::vector<std::uint32_t> out(graph_.ops.size(), 0), in(graph_.ops.size(), 0);
    for (const Edge& edge : edges_) {
      ++out[edge.from];
      ++in[edge.to];
    }
    std::vector<Edge> safe;
    for (const Edge& edge : edges_)
      if (out[edge.from] == 1 || in[edge.to] == 1) safe.push_back(edge);
    sort_by_bytes(safe);
    enum class Kind : std::uint8_t { single, by_successor, by_predecessor };
    std::vector<Kind> kind(graph_.ops.size(), Kind::single);  // by root
    for (const Edge& edge : safe) {
      const Kind a = kind[sets_.find(edge.from)], b = kind[sets_.find(edge.to)];
      for (const Kind wanted : {Kind::by_successor, Kind::by_predecessor}) {
        const bool only = wanted == Kind::by_successor ? out[edge.from] == 1 : in[edge.to] == 1;
        if (!only || (a != Kind::single && a != wanted) || (b != Kind::single && b != wanted)) continue;
        if (join(edge.from, edge.to)) kind[sets_.find(edge.from)] = wanted;
        break;
      }
    }
  }

  // Merges neighbours in a topological order: windows of such an order cannot depend on each other in a cycle.
  void contract_neighbours() {
    const std::vector<std::uint32_t> order = depth_first_order();
    std::vector<Edge> pairs;  // positions in `order`
    for (std::uint32_t i = 0; i + 1 < order.size(); ++i) {
      const auto at =
          std::lower_bound(edges_.begin(), edges_.end(), std::pair(order[i], order[i + 1]),
                           [](const Edge& edge, const auto& ends) { return std::pair(edge.from, edge.to) < ends; });
      const bool linked = at != edges_.end() && at->from == order[i] && at->to == order[i + 1];
      pairs.push_back({i, i + 1, linked ? at->bytes : 0});
    }
    sort_by_bytes(pairs);
    std::vector<char> taken(order.size(), 0);
    for (const Edge& pair : pairs)
      if (!taken[pair.from] && !taken[pair.to] && join(order[pair.from], order[pair.to]))
        taken[pair.from] = taken[pair.to] = 1;
  }

  // A topological order of the sets, in which each set is followed, if possible, by the successor to which it sends the
  // most bytes.
  [[nodiscard]] std::vector<std::uint32_t> depth_first_order() const {
    std::vector<std::uint32_t> waits(graph_.ops.size(), 0), begin(graph_.ops.size() + 1, 0);
    for (const Edge& edge : edges_) {
      ++waits[edge.to];
      ++begin[edge.from + 1];
    }
    for (std::size_t i = 0; i + 1 < begin.size(); ++i) begin[i + 1] += begin[i];
    std::vector<std::uint32_t> order, open;
    for (std::uint32_t i = static_cast<std::uint32_t>(graph_.ops.size()); i-- > 0;)
      if (sets_.find(i) == i && waits[i] == 0) open.push_back(i);
    std::vector<Edge> ready;
    while (!open.empty()) {
      const std::uint32_t set = open.back();
      open.pop_back();
      order.push_back(set);
      ready.clear();
      for (std::uint32_t e = begin[set]; e < begin[set + 1]; ++e)
        if (--waits[edges_[e].to] == 0) ready.push_back(edges_[e]);
      sort_by_bytes(ready);
      for (std::size_t i = ready.size(); i-- > 0;) open.push_back(ready[i].to);
    }
    return order;
  }

  const Graph& graph_;
  std::size_t wanted_, count_;
  UnionFind sets_;
  std::vector<double> weight_;  // by root
  double total_weight_ = 0, limit_ = 0;
  std::vector<Edge> edges_;
};

}  // namespace

PassResult coarsen(const Graph& graph, std::size_t groups) {
  EMPLACE_CHECK(groups > 0, "no groups wanted");
  return Coarsener(graph, groups).run();
}

}  // namespace emplace
