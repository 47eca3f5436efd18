#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "emplace/base/error.hpp"
#include "graph/passes/merge.hpp"
#include "graph/passes/neighbours.hpp"

namespace emplace {

namespace {

// For each op, the number of ops before it on the longest path that leads to it.
std::vector<std::size_t> levels_of(const Graph& graph) {
  const IdLists predecessors = predecessors_of(graph);
  std::vector<std::size_t> level(graph.ops.size(), 0);
  for (const OpId op : graph.topological_order())
    for (const std::uint32_t before : predecessors[op.index()])
      level[op.index()] = std::max(level[op.index()], level[before] + 1);
  return level;
}

// No edge leads to an earlier window, so the windows cannot form a cycle.
Partition windows(const Graph& graph, std::size_t layers) {
  const std::vector<std::size_t> level = levels_of(graph);
  std::size_t depth = 0;
  for (const std::size_t l : level) depth = std::max(depth, l + 1);
  layers = std::min(layers, depth);
  Partition partition;
  for (std::size_t i = 0; i < layers; ++i) partition.parts.push_back({.name = fmt::format("layer/{}", i), .cls = {}});
  for (const std::size_t l : level) partition.part_of.push_back(static_cast<std::uint32_t>(l * layers / depth));
  return partition;
}

Partition named_layers(const Graph& graph) {
  constexpr std::array prefixes = {"", "grad/", "update/"};  // by phase
  Partition partition;
  std::map<std::pair<std::string_view, Phase>, std::uint32_t> known;
  for (const GraphOp& op : graph.ops) {
    std::uint32_t part = Partition::alone;
    if (!op.layer.empty()) {
      const auto fresh = static_cast<std::uint32_t>(partition.parts.size());
      part = known.try_emplace({op.layer, op.phase}, fresh).first->second;
      if (part == fresh)
        partition.parts.push_back({.name = prefixes[static_cast<std::size_t>(op.phase)] + op.layer, .cls = {}});
    }
    partition.part_of.push_back(part);
  }
  if (known.empty() && !graph.ops.empty())
    throw InputError(graph.name, "the model names no layers; set the number of layers");
  split_cycles(graph, partition);
  return partition;
}

}  // namespace

PassResult split_into_layers(const Graph& graph, const LayerOptions& options) {
  return merge_ops(graph, options.layers > 0 ? windows(graph, options.layers) : named_layers(graph));
}

}  // namespace emplace
