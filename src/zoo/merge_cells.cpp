#include <algorithm>
#include <map>

#include "emplace/base/error.hpp"
#include "graph/passes/merge.hpp"
#include "zoo/detail.hpp"

namespace emplace::zoo {

namespace {

std::uint32_t add_part(Partition& partition, std::string name) {
  partition.parts.push_back({.name = std::move(name), .cls = {}});
  return static_cast<std::uint32_t>(partition.parts.size() - 1);
}

void part_forward_and_backward(const Graph& graph, const Cells& cells, Partition& partition) {
  std::vector<std::uint32_t> forward(cells.names.size(), Partition::alone), backward = forward;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const GraphOp& op = graph.ops[i];
    if (op.phase == Phase::update) continue;
    const std::uint32_t cell = cells.of_op[op.phase == Phase::forward ? i : op.forward_of.index()];
    if (cell == Cells::none) {
      partition.part_of[i] = add_part(partition, op.name);
      continue;
    }
    std::uint32_t& part = (op.phase == Phase::forward ? forward : backward)[cell];
    const std::string& name = cells.names[cell];
    if (part == Partition::alone) part = add_part(partition, op.phase == Phase::forward ? name : "grad/" + name);
    partition.part_of[i] = part;
  }
}

// Makes one update for all parameters that the same parts use, since merge_ops makes these parameters one buffer.
void part_updates(const Graph& graph, Partition& partition) {
  using Signature = std::pair<std::vector<std::uint32_t>, std::pair<bool, DType>>;
  std::map<Signature, std::uint32_t> known;
  for (const GraphParameter& parameter : graph.parameters) {
    Signature signature{{}, {parameter.trainable, parameter.dtype}};
    for (const OpId user : parameter.users)
      if (graph.ops[user.index()].phase != Phase::update) signature.first.push_back(partition.part_of[user.index()]);
    std::sort(signature.first.begin(), signature.first.end());
    signature.first.erase(std::unique(signature.first.begin(), signature.first.end()), signature.first.end());
    for (const OpId user : parameter.users) {
      if (graph.ops[user.index()].phase != Phase::update) continue;
      const auto [at, is_new] = known.try_emplace(signature, Partition::alone);
      if (is_new) at->second = add_part(partition, "update/" + parameter.name);
      partition.part_of[user.index()] = at->second;
    }
  }
}

}  // namespace

PassResult merge_cells(const Graph& graph, const Cells& cells) {
  Partition partition;
  partition.part_of.assign(graph.ops.size(), Partition::alone);
  part_forward_and_backward(graph, cells, partition);
  part_updates(graph, partition);
  return merge_ops(graph, partition);
}

}  // namespace emplace::zoo
