// Small files in the format dnn-partitioning, for tests.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "formats/workload/workload.hpp"

namespace emplace::test {

// Times in ms; `cost` is that of moving its output.
struct PartitionNode {
  double accelerator = 0, cpu = 0, cost = 1;
  Bytes size = 0;
  int color = -1;  // negative: none
  bool backward = false;
};

struct Partitioning {
  std::vector<PartitionNode> nodes;
  std::vector<std::pair<int, int>> edges;
  std::size_t accelerators = 1, cpus = 0;
  Bytes memory = 1000;

  [[nodiscard]] std::string text() const {
    std::vector<std::string> node_texts, edge_texts;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const PartitionNode& node = nodes[i];
      node_texts.push_back(fmt::format(
          R"({{"id": {}, "supportedOnFpga": 1, "cpuLatency": {}, "fpgaLatency": {}, "isBackwardNode": {}, "size": {}{}}})",
          i, node.cpu, node.accelerator, node.backward, node.size,
          node.color < 0 ? "" : fmt::format(R"(, "colorClass": {})", node.color)));
    }
    for (const auto& [from, to] : edges)
      edge_texts.push_back(fmt::format(R"({{"sourceId": {}, "destId": {}, "cost": {}}})", from, to,
                                       nodes[static_cast<std::size_t>(from)].cost));
    return fmt::format(R"({{"maxSizePerFPGA": {}, "maxFPGAs": {}, "maxCPUs": {}, "nodes": [{}], "edges": [{}]}})",
                       memory, accelerators, cpus, fmt::join(node_texts, ",\n"), fmt::join(edge_texts, ",\n"));
  }
  [[nodiscard]] Problem problem() const { return formats::read_problem_text(text(), "toy.json"); }
};

// A chain whose nodes take these times.
inline Partitioning chain_of(const std::vector<double>& milliseconds) {
  Partitioning chain;
  for (const double time : milliseconds) {
    if (!chain.nodes.empty())
      chain.edges.emplace_back(static_cast<int>(chain.nodes.size()) - 1, static_cast<int>(chain.nodes.size()));
    chain.nodes.push_back({.accelerator = time, .cpu = time});
  }
  return chain;
}

}  // namespace emplace::test
