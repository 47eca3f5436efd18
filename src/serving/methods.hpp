// The placers of builtin.cpp, each in a file of its own.
#pragma once

#include "serving/flow.hpp"
#include "serving/placer.hpp"

namespace emplace::serving {

PlacerEntry equal_split_placer();
PlacerEntry petals_placer();
PlacerEntry swarm_placer();
PlacerEntry separate_pipelines_placer();
PlacerEntry stages_placer();
PlacerEntry intervals_placer();
PlacerEntry exact_placer();
PlacerEntry best_placer();

// Whether a cluster has at most so many layouts.
bool has_few_layouts(const Cluster& cluster, double most);

// The result of a method that constructs one layout.
Result evaluated(const Cluster& cluster, Layout layout);

}  // namespace emplace::serving
