#include <algorithm>
#include <map>

#include "base/components.hpp"
#include "graph/passes/merge.hpp"
#include "graph/passes/neighbours.hpp"

namespace emplace {

void split_cycles(const Graph& graph, Partition& partition) {
  const IdLists predecessors = predecessors_of(graph);
  std::vector<std::uint32_t> group_of = partition.part_of;
  auto groups = static_cast<std::uint32_t>(partition.parts.size());
  for (std::uint32_t& group : group_of)
    if (group == Partition::alone) group = groups++;
  const IdLists between = contracted(predecessors, group_of, groups);
  const std::vector<std::uint32_t> component = strong_components(between.begin, between.items);

  // Edges between components follow the order of the components. Inside a component, (stage, rank) never decreases
  // along an edge, and only ops of the same part have the same pair, so the new parts cannot depend on each other in a
  // cycle.
  const std::vector<OpId> order = graph.topological_order();
  std::vector<std::uint32_t> rank(groups, Partition::alone), stage(graph.ops.size(), 0);
  std::uint32_t ranks = 0;
  for (const OpId op : order)
    if (std::uint32_t& of_group = rank[group_of[op.index()]]; of_group == Partition::alone) of_group = ranks++;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> later_parts;  // by part and stage
  for (const OpId op : order) {
    const std::uint32_t group = group_of[op.index()];
    for (const std::uint32_t before : predecessors[op.index()]) {
      const std::uint32_t other = group_of[before];
      if (component[other] == component[group])
        stage[op.index()] = std::max(stage[op.index()], stage[before] + (rank[other] > rank[group] ? 1 : 0));
    }
    std::uint32_t& part = partition.part_of[op.index()];
    if (part == Partition::alone || stage[op.index()] == 0) continue;
    const auto fresh = static_cast<std::uint32_t>(partition.parts.size());
    const auto at = later_parts.try_emplace({part, stage[op.index()]}, fresh).first;
    if (at->second == fresh) partition.parts.push_back(Part(partition.parts[part]));
    part = at->second;
  }
}

}  // namespace emplace
