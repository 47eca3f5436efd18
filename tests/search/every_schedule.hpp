// Exhaustive search over the schedules of tiny problems.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace::test {

// Every op on every device in every topological order.
inline void each_schedule(const Problem& problem, const std::function<void(const Placement&)>& visit) {
  Placement placement{std::vector<std::uint8_t>(problem.op_count(), 0), {}};
  std::vector<std::size_t> missing;
  for (std::size_t op = 0; op < problem.op_count(); ++op) missing.push_back(problem.inputs[op].size());
  const std::function<void()> extend = [&] {
    if (placement.order.size() == problem.op_count()) return visit(placement);
    for (std::uint32_t op = 0; op < problem.op_count(); ++op) {
      if (missing[op] != 0 || std::ranges::find(placement.order, op) != placement.order.end()) continue;
      const auto count = [&](std::size_t by) {
        for (const std::uint32_t tensor : problem.outputs[op])
          for (const std::uint32_t consumer : problem.consumers[tensor]) missing[consumer] += by;
      };
      placement.order.push_back(op);
      count(static_cast<std::size_t>(-1));
      for (std::size_t d = 0; d < problem.device_count(); ++d) {
        if (!problem.can_run(OpId{op}, DeviceId{d})) continue;
        placement.device[op] = static_cast<std::uint8_t>(d);
        extend();
      }
      count(1);
      placement.order.pop_back();
    }
  };
  extend();
}

// The shortest feasible step, by the reference engine; total_limit if there is none.
inline Ticks best_of_all(const Problem& problem, Schedule schedule) {
  const auto engine = simulate::make_reference_engine(problem, schedule);
  Ticks best = total_limit;
  each_schedule(problem, [&](const Placement& placement) {
    if (const Outcome outcome = engine->evaluate(placement); outcome.feasible())
      best = std::min(best, outcome.makespan);
  });
  return best;
}

}  // namespace emplace::test
