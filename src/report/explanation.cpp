#include "report/explanation.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace emplace::report {

namespace {

constexpr std::size_t shown_costs = 10;

std::vector<PathStretch> stretches_of(const std::vector<simulate::PathStep>& path, const Placement& placement,
                                      const simulate::Timeline& timeline) {
  // For an op (its device, its device), for a transfer (from, to).
  const auto place = [&](const simulate::PathStep& step) {
    if (step.is_op())
      return std::pair(DeviceId{placement.device[step.op.index()]}, DeviceId{placement.device[step.op.index()]});
    return std::pair(timeline.transfers[step.transfer].from, timeline.transfers[step.transfer].to);
  };
  std::vector<PathStretch> stretches;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i == 0 || place(path[i]) != place(path[i - 1])) stretches.push_back({i, 0, i, path[i].start, 0});
    PathStretch& stretch = stretches.back();
    ++stretch.count;
    stretch.end = path[i].end;
    if (path[i].duration() > path[stretch.longest].duration()) stretch.longest = i;
  }
  return stretches;
}

std::vector<OpId> costly_ops(const simulate::Timeline& timeline) {
  std::vector<std::uint32_t> ops(timeline.op_end.size());
  std::iota(ops.begin(), ops.end(), 0U);
  const auto shown = std::min(shown_costs, ops.size());
  const auto rank = [&](std::uint32_t op) { return std::pair(timeline.op_start[op] - timeline.op_end[op], op); };
  std::ranges::partial_sort(ops, ops.begin() + static_cast<std::ptrdiff_t>(shown), {}, rank);
  std::vector<OpId> costly;
  for (std::size_t i = 0; i < shown; ++i) costly.emplace_back(ops[i]);
  return costly;
}

std::vector<TensorCost> costly_tensors(const Problem& problem, const simulate::Timeline& timeline) {
  std::vector<TensorCost> costs(problem.tensor_count());
  for (std::size_t t = 0; t < costs.size(); ++t) costs[t].tensor = TensorId{t};
  for (const simulate::Timeline::Transfer& transfer : timeline.transfers) {
    TensorCost& cost = costs[transfer.tensor.index()];
    ++cost.transfers;
    cost.bytes += problem.tensor_bytes[transfer.tensor.index()];
    cost.moving += transfer.end - transfer.start;
    cost.waiting += transfer.start - transfer.requested;
  }
  std::erase_if(costs, [](const TensorCost& cost) { return cost.transfers == 0; });
  std::ranges::sort(costs, {}, [](const TensorCost& cost) { return std::pair(-cost.moving, cost.tensor); });
  if (costs.size() > shown_costs) costs.resize(shown_costs);
  return costs;
}

PeakMemory peak_memory(const std::vector<simulate::Holding>& held, DeviceId device, Ticks time) {
  PeakMemory peak;
  peak.alive = simulate::alive_at(held, device, time);
  for (const simulate::Holding& holding : peak.alive) {
    switch (holding.kind) {
      case simulate::Holding::Kind::resident: peak.resident += holding.bytes; break;
      case simulate::Holding::Kind::scratch: peak.scratch += holding.bytes; break;
      case simulate::Holding::Kind::output: peak.outputs += holding.bytes; break;
      case simulate::Holding::Kind::copy: peak.copies += holding.bytes; break;
    }
  }
  return peak;
}

}  // namespace

Explanation explain(const Problem& problem, const Placement& placement, Schedule schedule, const MoveLimits& limits,
                    const MoveProgress& progress) {
  Explanation e;
  e.schedule = schedule;
  e.outcome =
      simulate::make_exact_engine(problem, schedule)->evaluate(placement, {.usage = &e.usage, .timeline = &e.timeline});
  if (!e.outcome.feasible()) e.reason = reason_text(problem, e.outcome, placement.device, e.usage);
  if (e.outcome.timed()) {
    e.path = simulate::critical_path(problem, placement, schedule, e.timeline);
    e.shares = simulate::shares_of(e.path);
    e.limits = limits_of(problem, placement, schedule, e.outcome, e.usage, e.path);
    e.stretches = stretches_of(e.path, placement, e.timeline);
    e.ops_on.resize(problem.device_count());
    for (const std::uint8_t device : placement.device) ++e.ops_on[device];
    for (const simulate::Timeline::Transfer& transfer : e.timeline.transfers)
      e.moved_bytes += problem.tensor_bytes[transfer.tensor.index()];
    e.costly_ops = costly_ops(e.timeline);
    e.costly_tensors = costly_tensors(problem, e.timeline);
    const std::vector<simulate::Holding> held = simulate::holdings(problem, placement, e.timeline);
    e.memory = simulate::memory_timeline(problem, held);
    for (std::size_t d = 0; d < problem.device_count(); ++d)
      e.at_peak.push_back(peak_memory(held, DeviceId{d}, e.memory[d].peak_time));
  }
  e.moves = find_moves(problem, placement, schedule, e.outcome, e.timeline, e.path, limits, progress);
  return e;
}

}  // namespace emplace::report
