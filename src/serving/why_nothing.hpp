// Why nothing passes, as one sentence without a full stop.
#pragma once

#include <string>

#include "serving/cluster.hpp"

namespace emplace::serving {

// Of a cluster of which it is proved that no layout passes anything.
std::string why_nothing(const Cluster& cluster);
// Of a layout whose throughput is 0.
std::string why_nothing(const Cluster& cluster, const Layout& layout);

}  // namespace emplace::serving
