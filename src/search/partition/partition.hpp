// What placers by graph partitioning share: one partition for each of several imbalances, scored.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/options.hpp"
#include "emplace/search/placer.hpp"
#include "search/partition/unit_graph.hpp"

namespace emplace::search {

struct PartitionOptions {
  std::string knows = "costs";

  [[nodiscard]] bool graph_alone() const { return knows == "graph"; }
};
void describe(PartitionOptions& options, OptionVisitor& visit);

// U positions in `processors`, of which there are two at least, as there are units. The seed is that of the attempt.
using Partitioner = std::function<std::vector<std::uint32_t>(
    const Units& units, const UnitGraph& graph, const Processors& processors, double imbalance, std::uint64_t seed)>;

// The best of the partitions over the `usable` devices (D: 1 or 0) for `imbalances`, in their order, as far as the
// budget goes; for the first of them where the partitioner knows the graph alone. Few of them for large graphs, see the
// source.
PlacerResult place_by_partition(const PlacerRequest& request, const PartitionOptions& options,
                                std::span<const std::uint8_t> usable, std::span<const double> imbalances,
                                const Partitioner& partition);

// D times 1.
inline std::vector<std::uint8_t> every_device(const Problem& problem) {
  return std::vector<std::uint8_t>(problem.device_count(), 1);
}

}  // namespace emplace::search
