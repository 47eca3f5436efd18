// The throughput of a layout: the maximum flow from the source to the sink. The source feeds nodes that hold layer 0, a
// node feeds those that begin where it ends, nodes that end with the last layer feed the sink; nodes and links limit
// what passes. Rates are whole numbers, so the maximum is exact. Dinic 1970.
#pragma once

#include <limits>
#include <vector>

#include "serving/cluster.hpp"

namespace emplace::serving {

inline constexpr NodeIndex no_node = std::numeric_limits<NodeIndex>::max();

struct LinkFlow {
  NodeIndex from = no_node, to = no_node;  // no_node: the source, the sink
  Rate flow = 0, rate = 0;
};

// How a maximum flow is divided. One of several that are equally large; the throughput is the same for all.
struct FlowDetails {
  std::vector<Rate> node;       // N: what passes each node
  std::vector<LinkFlow> links;  // those between intervals that fit together, in the order of their nodes
};

// Computes throughputs of one cluster, with memory that is used again. Not for several threads at a time.
class FlowEvaluator {
 public:
  // The cluster must outlive this object.
  explicit FlowEvaluator(const Cluster& cluster);

  Rate throughput(const Layout& layout, FlowDetails* details = nullptr);
  // Whether the throughput is at least `wanted`; quicker than computing it.
  bool reaches(const Layout& layout, Rate wanted);

 private:
  struct Arc {
    std::uint32_t to;
    Rate left;  // what can still be sent
  };
  static constexpr std::uint32_t source = 0, sink = 1;
  static std::uint32_t entry(NodeIndex node) { return 2 + 2 * node; }
  static std::uint32_t exit(NodeIndex node) { return 3 + 2 * node; }

  void build(const Layout& layout);
  void add_arc(std::uint32_t from, std::uint32_t to, Rate rate);
  Rate maximise(Rate enough);
  bool find_levels();
  Rate push(std::uint32_t vertex, Rate most);

  const Cluster& cluster_;
  std::vector<Arc> arcs_;                        // each is followed by its reverse
  std::vector<std::vector<std::uint32_t>> out_;  // arcs of each vertex
  std::vector<std::uint32_t> used_;              // vertices with arcs
  std::vector<std::uint32_t> level_, next_, queue_;
  std::vector<std::vector<NodeIndex>> begins_;  // layers + 1: nodes whose interval begins there
};

}  // namespace emplace::serving
