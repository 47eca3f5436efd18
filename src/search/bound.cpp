#include "emplace/search/bound.hpp"

#include <algorithm>
#include <vector>

namespace emplace {

namespace {

Ticks fastest(const Problem& problem, std::size_t op) {
  Ticks best = cannot_run;
  for (std::size_t d = 0; d < problem.device_count(); ++d) {
    const Ticks time = problem.op_time[op * problem.device_count() + d];
    if (time != cannot_run && (best == cannot_run || time < best)) best = time;
  }
  return best;
}

}  // namespace

LowerBound lower_bound(const Problem& problem) {
  std::vector<Ticks> end(problem.op_count(), 0);
  Ticks path = 0;
  Ticks work = 0;
  for (const std::uint32_t op : problem.topological) {
    Ticks start = 0;
    for (const std::uint32_t tensor : problem.inputs[op])
      start = std::max(start, end[problem.producer[tensor].index()]);
    const Ticks time = fastest(problem, op);
    end[op] = start + time;
    path = std::max(path, end[op]);
    work += time;
  }
  const auto devices = static_cast<Ticks>(problem.device_count());
  const Ticks load = (work + devices - 1) / devices;
  return path >= load ? LowerBound{path, "critical path"} : LowerBound{load, "load"};
}

}  // namespace emplace
