// Segments: sets of ops on one device that can run as one call.
#pragma once

#include <string>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace::deploy {

struct Segment {
  std::string device;
  std::vector<OpId> ops;  // ascending
};

// Cuts a placed graph into segments such that no segment depends on its own outputs through another device, and none
// delays another device that needs a part of its results. Two ops are in one segment if they are on one device, and if
// both numbers are equal: the largest number of device changes on a path to the op, and on a path from it. Every
// dependence is within a segment or goes to a later one of the list. No element of `device_of_op` may be "". Linear
// time, except for the sorting.
std::vector<Segment> segments_of(const Graph& graph, const std::vector<std::string>& device_of_op);

}  // namespace emplace::deploy
