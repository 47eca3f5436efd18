#include "graph/passes/merge_groups.hpp"

#include <fmt/core.h>

#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "emplace/base/error.hpp"
#include "graph/ops/op_row.hpp"
#include "graph/ops/op_rules.hpp"
#include "graph/passes/union_find.hpp"

namespace emplace {

namespace {

// Whether the op's cost is computed from that of its forward op; if that is merged into a larger op, the cost must be
// fixed before.
bool is_costed_by_its_forward_op(const GraphOp& op) {
  if (op.forward_of.is_none()) return false;
  const OpRow* row = find_row(op.type);
  return row == nullptr ? op.phase == Phase::backward : row->flops == &twice_forward;
}

void form_groups(const Graph& graph, const Partition& partition, MergeGroups& groups) {
  groups.of_op = partition.part_of;
  groups.count = static_cast<std::uint32_t>(partition.parts.size());
  groups.stated.assign(groups.count, 1);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (groups.of_op[i] != Partition::alone) continue;
    groups.of_op[i] = groups.count++;
    const GraphOp& op = graph.ops[i];
    groups.stated.push_back(is_costed_by_its_forward_op(op) &&
                            partition.part_of[op.forward_of.index()] != Partition::alone);
  }
  groups.members = members_of(groups.of_op, groups.count);
}

void join_colocation_groups(const Graph& graph, MergeGroups& groups) {
  std::vector<std::string_view> names;
  std::unordered_map<std::string_view, std::uint32_t> number;
  std::vector<std::uint32_t> of_op(graph.ops.size(), Partition::alone);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (graph.ops[i].colocate.empty()) continue;
    const auto fresh = static_cast<std::uint32_t>(names.size());
    of_op[i] = number.try_emplace(graph.ops[i].colocate, fresh).first->second;
    if (of_op[i] == fresh) names.push_back(graph.ops[i].colocate);
  }
  UnionFind joined(names.size());
  std::vector<std::uint32_t> any(groups.count, Partition::alone);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (of_op[i] == Partition::alone) continue;
    std::uint32_t& of_group = any[groups.of_op[i]];
    of_group = of_group == Partition::alone ? of_op[i] : joined.join(of_group, of_op[i]);
  }
  groups.colocate.resize(groups.count);
  for (std::uint32_t g = 0; g < groups.count; ++g)
    if (any[g] != Partition::alone) groups.colocate[g] = names[joined.first(any[g])];
}

// The op of the group with the most FLOPs, then the most bytes.
std::uint32_t heaviest(const Graph& graph, std::span<const std::uint32_t> members) {
  if (members.size() == 1) return members.front();
  std::uint32_t best = members.front();
  std::pair<double, double> most{-1, -1};
  for (const std::uint32_t member : members) {
    const OpCost cost = cost_of(graph, OpId{member});
    const std::pair size(cost.flops, static_cast<double>(cost.bytes_read) + static_cast<double>(cost.bytes_written));
    if (size <= most) continue;
    best = member;
    most = size;
  }
  return best;
}

void name_groups(const Graph& graph, const Partition& partition, MergeGroups& groups) {
  groups.names.resize(groups.count);
  std::unordered_set<std::string> taken;
  const auto is_named = [&](std::uint32_t g) { return g < partition.parts.size() && !partition.parts[g].name.empty(); };
  for (std::uint32_t g = 0; g < groups.count; ++g) {
    if (groups.members[g].empty() || is_named(g)) continue;
    groups.names[g] = graph.ops[heaviest(graph, groups.members[g])].name;
    taken.insert(groups.names[g]);
  }
  std::unordered_map<std::string, std::size_t> copies;
  for (std::uint32_t g = 0; g < groups.count; ++g) {
    if (groups.members[g].empty() || !is_named(g)) continue;
    const std::string& wanted = partition.parts[g].name;
    std::size_t& copy = copies[wanted];
    do groups.names[g] = ++copy == 1 ? wanted : fmt::format("{}#{}", wanted, copy);
    while (!taken.insert(groups.names[g]).second);
  }
}

void order_groups(const Graph& graph, MergeGroups& groups) {
  const IdLists before = contracted(predecessors_of(graph), groups.of_op, groups.count), after = reversed(before);
  using Ready = std::pair<std::uint32_t, std::uint32_t>;  // smallest member, group
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  const auto push = [&](std::uint32_t g) {
    ready.push({groups.members[g].empty() ? 0 : groups.members[g].front(), g});
  };
  std::vector<std::uint32_t> waits(groups.count);
  for (std::uint32_t g = 0; g < groups.count; ++g) {
    waits[g] = static_cast<std::uint32_t>(before[g].size());
    if (waits[g] == 0) push(g);
  }
  while (!ready.empty()) {
    const std::uint32_t group = ready.top().second;
    ready.pop();
    groups.order.push_back(group);
    for (const std::uint32_t next : after[group])
      if (--waits[next] == 0) push(next);
  }
  for (std::uint32_t g = 0; g < groups.count; ++g)
    EMPLACE_CHECK(waits[g] == 0, "a path leaves part {} of {} and comes back", groups.names[g], graph.name);
}

}  // namespace

MergeGroups merge_groups(const Graph& graph, const Partition& partition) {
  EMPLACE_CHECK(partition.part_of.size() == graph.ops.size(), "parts of {} ops for {}", partition.part_of.size(),
                graph.ops.size());
  MergeGroups groups;
  form_groups(graph, partition, groups);
  join_colocation_groups(graph, groups);
  name_groups(graph, partition, groups);
  order_groups(graph, groups);
  return groups;
}

}  // namespace emplace
