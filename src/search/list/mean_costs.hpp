// Mean costs of ops and transfers over devices, for ops that are not placed yet, and ranks computed from them
// (Topcuoglu, Hariri, Wu 2002, equations 5 to 9). In ticks.
#pragma once

#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::search {

struct MeanCosts {
  explicit MeanCosts(const Problem& problem);

  std::vector<double> op;        // N: mean over the devices that can run the op
  std::vector<double> transfer;  // T: mean over the ordered pairs of devices that have a route
};

// N: the length of the longest path from the op's start to the end of the step, the op included.
std::vector<double> upward_ranks(const Problem& problem, const MeanCosts& costs);
// N: the length of the longest path from the beginning of the step to the op's start.
std::vector<double> downward_ranks(const Problem& problem, const MeanCosts& costs);

// N op ids by decreasing value, ties in topological order. The order is topological if the value decreases along every
// edge.
std::vector<std::uint32_t> order_by_decreasing(const Problem& problem, const std::vector<double>& value);

}  // namespace emplace::search
