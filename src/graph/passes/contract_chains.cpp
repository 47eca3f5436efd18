#include "graph/passes/neighbours.hpp"
#include "graph/passes/partition.hpp"

namespace emplace {

// Both rules contract trees in which every op but the root has its only predecessor inside the tree, so no path can
// leave a tree and come back to it.
PassResult contract_chains(const Graph& graph, ChainRule rule) {
  const IdLists predecessors = predecessors_of(graph), successors = reversed(predecessors);
  UnionFind sets(graph.ops.size());
  for (std::uint32_t op = 0; op < graph.ops.size(); ++op) {
    if (predecessors[op].size() != 1) continue;
    const std::uint32_t parent = predecessors[op].front();
    if (rule == ChainRule::single_parent || successors[parent].size() == 1) sets.join(parent, op);
  }
  return merge_ops(graph, partition_of(sets, graph.ops.size()));
}

}  // namespace emplace
