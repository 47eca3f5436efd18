// Random graphs for Placeto's tests, and their PolicyProblem without grouping.
#pragma once

#include <string>
#include <vector>

#include "policy/placeto/graph.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::test {

inline Stream any_stream() { return Stream({.seed = 1}); }

inline policy::PolicyProblem by_op(const Problem& problem) {
  return {&problem, make_grouping(problem, GroupingKind::op)};
}

// A random graph with edges from smaller to larger ids, devices equal.
inline Problem random_graph(std::size_t ops, std::size_t devices, std::uint64_t seed) {
  Stream random({.seed = seed});
  std::vector<TinyOp> list;
  std::vector<TinyEdge> edges;
  for (std::size_t op = 0; op < ops; ++op) {
    list.push_back({std::to_string(op), std::vector<double>(devices, 1 + random.below(9)), "", random.below(5),
                    1 + random.below(9)});
    for (std::size_t before = 0; before < op; ++before)
      if (random.below(3) == 0) edges.push_back({before, op});
  }
  return tiny(plain_devices(devices), list, edges, 1);
}

}  // namespace emplace::test
