#include "emplace/report/moves.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "emplace/problem/grouping.hpp"

namespace emplace {

namespace {

constexpr std::uint64_t fewest_evaluations = 64;

struct Weight {
  bool at_fault = false;  // why the placement has no times
  Ticks on_path = 0, running = 0;
};

std::vector<Weight> weigh(const Problem& problem, const Grouping& units, const Outcome& now, const Timeline& timeline,
                          std::span<const PathStep> path) {
  std::vector<Weight> weights(units.count());
  const auto weight = [&](OpId op) -> Weight& { return weights[units.unit_of_op[op.index()]]; };
  for (const PathStep& step : path) {
    const OpId op = step.is_op() ? step.op : problem.producer[timeline.transfers[step.transfer].tensor.index()];
    weight(op).on_path += step.duration();
  }
  for (std::size_t op = 0; op < timeline.op_end.size(); ++op)
    weight(OpId{op}).running += timeline.op_end[op] - timeline.op_start[op];
  if (now.why == Infeasible::unsupported_op) weight(OpId{now.subject}).at_fault = true;
  if (now.why == Infeasible::missing_route) {
    weight(problem.producer[now.subject]).at_fault = true;
    for (const std::uint32_t consumer : problem.consumers[now.subject]) weight(OpId{consumer}).at_fault = true;
  }
  return weights;
}

}  // namespace

MoveSearch find_moves(const Problem& problem, const Placement& placement, Schedule schedule, const Outcome& now,
                      const Timeline& timeline, std::span<const PathStep> path, const MoveLimits& limits) {
  const Grouping units = make_grouping(problem, GroupingKind::colocation);
  const std::vector<Weight> weights = weigh(problem, units, now, timeline, path);
  std::vector<std::uint32_t> order(units.count());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::uint32_t unit) {
    const Weight& w = weights[unit];
    return std::tuple(w.at_fault, w.on_path, w.running);
  });

  const std::uint64_t size = problem.op_count() + problem.edge_count();
  const std::uint64_t budget = std::min(limits.evaluations, std::max(limits.work / size, fewest_evaluations));
  const auto engine = make_exact_engine(problem, schedule);
  MoveSearch search;
  Placement moved = placement;
  for (const std::uint32_t unit : order) {
    const auto members = units.members[unit];
    Move best{{members.begin(), members.end()}, {}, now};
    for (std::size_t d = 0; d < problem.device_count(); ++d) {
      const auto is_there = [&](std::uint32_t op) { return placement.device[op] == d; };
      if (!units.allows(unit, d) || std::ranges::all_of(members, is_there)) continue;
      ++search.possible;
      if (search.evaluated == budget) continue;
      ++search.evaluated;
      for (const std::uint32_t op : members) moved.device[op] = static_cast<std::uint8_t>(d);
      const Outcome outcome = engine->evaluate(moved);
      if (better(outcome, best.outcome)) {
        best.outcome = outcome;
        best.to = DeviceId{d};
      }
    }
    for (const std::uint32_t op : members) moved.device[op] = placement.device[op];
    if (best.to.is_none()) continue;
    // The first of equals stays before the others.
    const auto at =
        std::ranges::find_if(search.best, [&](const Move& other) { return better(best.outcome, other.outcome); });
    search.best.insert(at, std::move(best));
    if (search.best.size() > limits.wanted) search.best.pop_back();
  }
  return search;
}

}  // namespace emplace
