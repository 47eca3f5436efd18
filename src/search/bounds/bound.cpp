// The list of bounds: a new one is a source file, a line in bounds/context.hpp and a line here.
#include "emplace/search/bound.hpp"
#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "emplace/base/error.hpp"
#include "search/bounds/context.hpp"

namespace emplace::search {

std::span<const BoundEntry> bound_methods() {
  static const BoundEntry entries[] = {
      critical_path_bound(),
      load_bound(),
      joint_path_bound(),
      windows_bound(),
      slots_bound(),
      energy_bound(),
      memory_bound(),
      linear_bound(),
      search_bound(),
      pipeline_load_bound(),
      pipeline_linear_load_bound(),
  };
  return entries;
}

std::optional<std::string> BoundContext::infeasible() const {
  const std::size_t devices = problem.device_count();
  const auto somewhere = [&](const auto& row, std::size_t op, auto none) {
    return std::any_of(row.begin() + static_cast<std::ptrdiff_t>(op * devices),
                       row.begin() + static_cast<std::ptrdiff_t>((op + 1) * devices),
                       [&](const auto value) { return value != none; });
  };
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    if (!somewhere(possible, op, std::uint8_t{0}))
      return fmt::format("{} fits in the memory of no device that can run {}", quote(problem.op_names[op]),
                         problem.group[op].is_none() ? "it" : "its co-location group");
  for (const std::uint32_t op : problem.topological)
    if (!somewhere(earliest.end, op, never))
      return fmt::format("no device that can run {} has routes from devices that can run its producers",
                         quote(problem.op_names[op]));
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    bool open = false;
    for (std::size_t at = op * devices; at < (op + 1) * devices; ++at)
      open = open || later(earliest.end[at], earliest.tail[at]) != never;
    if (!open)
      return fmt::format("no device that can run {} has routes to devices that can run all ops after it",
                         quote(problem.op_names[op]));
  }
  Bytes resident = 0, memory = 0;
  for (const Bytes bytes : problem.resident) resident += bytes;
  if (!fewest_devices(problem, resident)) {
    for (const Device& device : problem.devices) memory += device.memory;
    return fmt::format("the ops need {} of resident memory, but all devices together have {}", human_bytes(resident),
                       human_bytes(memory));
  }
  return std::nullopt;
}

LowerBound lower_bound(const Problem& problem) {
  BoundContext context(problem, 0);
  const Ticks path = critical_path_bound().bound(context);
  const Ticks load = load_bound().bound(context);
  return path >= load ? LowerBound{path, "critical-path"} : LowerBound{load, "load"};
}

LowerBound lower_bound(const Problem& problem, Objective objective) {
  return objective == Objective::pipeline ? pipeline_lower_bound(problem) : lower_bound(problem);
}

LowerBound BoundReport::best() const {
  LowerBound best;
  for (const LowerBound& each : methods)
    if (best.method.empty() || each.ticks > best.ticks) best = each;
  return best;
}

BoundReport lower_bounds(const Problem& problem, Objective objective, double seconds,
                         const std::function<bool()>& stop) {
  BoundContext context(problem, seconds, stop);
  BoundReport report;
  // Only for steps: routes and memory have other rules in a pipeline.
  if (objective == Objective::step) report.infeasible = context.infeasible();
  if (report.infeasible) return report;
  for (const BoundEntry& entry : bound_methods()) {
    if (entry.objective != objective) continue;
    report.methods.push_back({entry.bound(context), entry.name});
    if (context.nothing_feasible)
      return {{},
              fmt::format("{} has ruled out every placement: devices, routes, groups and resident bytes cannot "
                          "all be satisfied",
                          entry.name),
              false};
    context.best = std::max(context.best, report.methods.back().ticks);
  }
  report.cut_short = context.cut_short || context.deadline.passed();
  return report;
}

}  // namespace emplace::search
