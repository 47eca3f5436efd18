// Certified lower bounds: of the step time for every placement, order and schedule; of the pipeline's load for every
// placement.
#pragma once

#include <string>

#include "emplace/base/units.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace {

struct LowerBound {
  Ticks ticks = 0;
  std::string method;  // what gave it: "critical path" or "load"
};

// The larger of the longest path with every op on its fastest device and no transfer, and the sum of the fastest times
// over the number of devices (rounded up). Linear in ops and edges.
LowerBound lower_bound(const Problem& problem);

// Of the largest load (papers/exact.md section 7 item 6): devices weighted by how much faster they are than a reference
// at best, every op at its smallest weighted time; and the longest op on its fastest device. Linear in ops x devices^2.
LowerBound pipeline_lower_bound(const Problem& problem);
LowerBound lower_bound(const Problem& problem, Objective objective);

}  // namespace emplace
