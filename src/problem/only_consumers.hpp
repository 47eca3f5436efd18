// ColocRL's rule for co-location groups (docs/papers/colocrl.md, section 2.1): what has only one consumer goes where
// that is.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "problem/acyclic_merger.hpp"
#include "problem/unit_merger.hpp"

namespace emplace {

// Joins each op with exactly one distinct consuming op to that consumer's unit; with `repeat`, each unit with exactly
// one distinct consuming unit, until there is none left.
// Producers come first, with `repeat` last, where a limit makes that matter. A join is left out where `graph` refuses
// it, and if the joined unit would have more than `max_share` of the total work. `units` are those of `graph`.
void merge_only_consumers(const Problem& problem, AcyclicMerger& graph, const UnitMerger& units, bool repeat,
                          double max_share);

// N: units numbered in topological order of the graph of units, the smallest op first. Where units depend on each other
// in cycles, the one of the first op in topological order goes first.
std::vector<std::uint32_t> number_by_dependence(const Problem& problem, const UnitMerger& units);

}  // namespace emplace
