// Ops of one device that can run as one call.
#pragma once

#include <string>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace::deploy {

struct Segment {
  std::string device;
  std::vector<OpId> ops;  // ascending
};

// Cuts a placed graph so that no segment waits for what it makes itself, and none keeps another device waiting for
// results that it has: ops are together if they are on one device and agree in how often data has changed devices on
// the way to them, at most, and how often it will on the way from them. Every dependence leads from a segment to itself
// or to a later one of the list. `device_of_op`: none is "". Linear but for the sorting.
std::vector<Segment> segments_of(const Graph& graph, const std::vector<std::string>& device_of_op);

}  // namespace emplace::deploy
