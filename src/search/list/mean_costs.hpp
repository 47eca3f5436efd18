// What an op and a transfer cost before it is known where they run: means over devices, and the ranks made of them
// (Topcuoglu, Hariri, Wu 2002, equations 5 to 9). In ticks.
#pragma once

#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::search {

struct MeanCosts {
  explicit MeanCosts(const Problem& problem);

  std::vector<double> op;        // N: over the devices that can run it
  std::vector<double> transfer;  // T: over the ordered pairs of devices that have a route
};

// N: the longest path from the op's start to the end, itself included.
std::vector<double> upward_ranks(const Problem& problem, const MeanCosts& costs);
// N: the longest path from the beginning to the op's start.
std::vector<double> downward_ranks(const Problem& problem, const MeanCosts& costs);

// N op ids by decreasing value, ties in topological order. Topological where the value falls along every edge.
std::vector<std::uint32_t> order_by_decreasing(const Problem& problem, const std::vector<double>& value);

}  // namespace emplace::search
