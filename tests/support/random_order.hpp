// A random topological order.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "emplace/base/random.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::test {

inline std::vector<std::uint32_t> random_order(const Problem& problem, Stream& random) {
  std::vector<std::size_t> missing;
  std::vector<std::uint32_t> ready, order;
  for (std::uint32_t op = 0; op < problem.op_count(); ++op) {
    missing.push_back(problem.inputs[op].size());
    if (missing.back() == 0) ready.push_back(op);
  }
  while (!ready.empty()) {
    std::swap(ready[random.below(static_cast<std::uint32_t>(ready.size()))], ready.back());
    const std::uint32_t op = ready.back();
    ready.pop_back();
    order.push_back(op);
    for (const std::uint32_t tensor : problem.outputs[op])
      for (const std::uint32_t consumer : problem.consumers[tensor])
        if (--missing[consumer] == 0) ready.push_back(consumer);
  }
  return order;
}

}  // namespace emplace::test
