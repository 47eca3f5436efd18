// A certified upper bound on the throughput of every layout.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "serving/cluster.hpp"

namespace emplace::serving {

struct UpperBound {
  Rate rate = 0;       // no layout has more; 0: no layout passes anything
  std::string method;  // what proved it: "capacity", "cover", "crossings"
};

struct BoundLimits {
  std::optional<double> seconds;
  std::function<bool()> stop = {};
};

// `known`: the throughput of some layout, at which the search for a smaller bound may end; 0: none is known. Without
// seconds the bound is the same in every run.
UpperBound upper_bound(const Cluster& cluster, Rate known, const BoundLimits& limits);

}  // namespace emplace::serving
