// Static mapping by Scotch (Pellegrini and Roman 1996): minimises the sum over edges of weight x distance of the
// devices, with work balanced by speed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/partition/unit_graph.hpp"

namespace emplace::search {

// U: a position in `processors` for each unit. `imbalance`: the share of its fair load by which a processor may exceed
// it; the smallest processors may exceed that by one more unit. Units may be put on devices that cannot run them. Equal
// arguments always give the same result. EnvironmentError if Scotch fails.
std::vector<std::uint32_t> scotch_map(const UnitGraph& graph, const Processors& processors, double imbalance,
                                      std::uint64_t seed);

}  // namespace emplace::search
