// Static mapping by Scotch (Pellegrini and Roman 1996): least sum over edges of weight x distance of the devices, with
// work balanced by speed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/partition/unit_graph.hpp"

namespace emplace::search {

// U: a position in `processors` for each unit. `imbalance`: by
// which share of its fair load a processor may be above it; the lightest processors may still exceed it by one unit.
// It knows nothing of what cannot run where. The same for the same arguments, whatever was called before.
// EnvironmentError where Scotch fails.
std::vector<std::uint32_t> scotch_map(const UnitGraph& graph, const Processors& processors, double imbalance,
                                      std::uint64_t seed);

}  // namespace emplace::search
