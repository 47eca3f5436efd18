// ColocRL's rule for co-location groups (docs/papers/colocrl.md, section 2.1): an op with only one consumer is put on
// the consumer's device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "problem/acyclic_merger.hpp"
#include "problem/unit_merger.hpp"

namespace emplace {

struct OnlyConsumers {
  bool repeat = false;
  double max_share = 1;
  std::vector<std::string> block = {};  // N, or none: an op with a block does not join its consumer (not with `repeat`)
};

// Joins each op with exactly one distinct consuming op to that consumer's unit; with `repeat`, each unit with exactly
// one distinct consuming unit, until there is none left. Ops are visited from producers to consumers; with `repeat`
// from consumers to producers (the order matters where a limit refuses joins). A join is left out if `graph` refuses
// it, and if the joined unit would have more than `max_share` of the total work. `units` must be the units of `graph`.
void merge_only_consumers(const Problem& problem, AcyclicMerger& graph, const UnitMerger& units,
                          const OnlyConsumers& options);

// N: the number of each op's unit, in topological order of the graph of units; of units that are ready, the one with
// the smallest op id comes first. Where units depend on each other in cycles, the unit of the first op in topological
// order comes first.
std::vector<std::uint32_t> number_by_dependence(const Problem& problem, const UnitMerger& units);

}  // namespace emplace
