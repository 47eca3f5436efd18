// The segments of a placed graph (problem/segments.hpp): sets of ops on one device that can run as one call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace::deploy {

struct Segment {
  std::string device;
  std::vector<OpId> ops;  // ascending
};

// Cuts a placed graph into segments; every dependence is within one or goes to a later one of the list. No element of
// `device_of_op` may be "". `rank` of each op: ModelPlacement's, or empty.
std::vector<Segment> segments_of(const Graph& graph, const std::vector<std::string>& device_of_op,
                                 const std::vector<std::uint32_t>& rank = {});

}  // namespace emplace::deploy
