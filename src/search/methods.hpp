// The entries that builtin.cpp lists, one per source file (device.cpp has two).
#pragma once

#include "emplace/search/placer.hpp"

namespace emplace::search {

PlacerEntry single_placer();
PlacerEntry device_placer();
PlacerEntry round_robin_placer();
PlacerEntry random_placer();
PlacerEntry contiguous_placer();
PlacerEntry greedy_placer();
PlacerEntry heft_placer();
PlacerEntry cpop_placer();
PlacerEntry peft_placer();
PlacerEntry m_topo_placer();
PlacerEntry m_etf_placer();
PlacerEntry m_sct_placer();
PlacerEntry layers_placer();
PlacerEntry climb_placer();
PlacerEntry anneal_placer();
PlacerEntry tabu_placer();
PlacerEntry ruin_placer();
PlacerEntry brkga_placer();
PlacerEntry contracted_placer();
PlacerEntry layered_placer();
PlacerEntry best_placer();
PlacerEntry dp_placer();
PlacerEntry dpl_placer();
PlacerEntry pipedream_like_placer();
PlacerEntry steepest_descent_placer();
PlacerEntry milp_placer();
PlacerEntry greedy_latency_placer();
PlacerEntry milp_latency_placer();
PlacerEntry branch_and_bound_placer();
PlacerEntry cpu_only_placer();
PlacerEntry auto_placer();
PlacerEntry expert_placer();
PlacerEntry scotch_placer();
PlacerEntry mincut_placer();
PlacerEntry metis_placer();

// For entries without options: every key is refused.
struct NoOptions {};
inline void describe(NoOptions&, OptionVisitor&) {}

}  // namespace emplace::search
