// Certified lower bounds of the step time: valid for every placement, order and schedule.
#pragma once

#include <string>

#include "emplace/base/units.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace {

struct LowerBound {
  Ticks ticks = 0;
  std::string method;  // what gave it: "critical path" or "load"
};

// The larger of the longest path with every op on its fastest device and no transfer, and the sum of the fastest times
// over the number of devices (rounded up). Linear in ops and edges.
LowerBound lower_bound(const Problem& problem);

}  // namespace emplace
