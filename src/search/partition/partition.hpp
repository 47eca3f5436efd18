// The part that placers by graph partitioning share: one partition is made and scored for each of several imbalances.
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
};
void describe(PartitionOptions& options, OptionVisitor& visit);

// Returns for each of the U units a position in `processors`. There are at least two processors and two units. Each
// attempt has its own seed.
using Partitioner = std::function<std::vector<std::uint32_t>(
    const Units& units, const UnitGraph& graph, const Processors& processors, double imbalance, std::uint64_t seed)>;

// The best of the partitions over the `usable` devices (D: 1 or 0) for `imbalances`, in their order, as far as the
// budget goes. Only the first imbalance is tried if the partitioner does not get the costs of transfers, and only a few
// for large graphs (see the source).
PlacerResult place_by_partition(const PlacerRequest& request, const PartitionOptions& options,
                                std::span<const std::uint8_t> usable, std::span<const double> imbalances,
                                const Partitioner& partition);

// D ones.
inline std::vector<std::uint8_t> every_device(const Problem& problem) {
  return std::vector<std::uint8_t>(problem.device_count(), 1);
}

}  // namespace emplace::search
