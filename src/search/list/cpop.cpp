// CPOP: takes ready ops by decreasing upward plus downward rank. Ops of the critical path go to the one device that
// runs the whole path fastest, the others to the device on which they would end first, in idle time if they fit.
#include <optional>

#include "search/list/mean_costs.hpp"
#include "search/list/partial_schedule.hpp"
#include "search/list/ready_list.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

// Starts at the op with the largest priority among those without producers, and goes on to the consumer with the
// largest.
std::vector<std::uint8_t> critical_path(const Problem& problem, const std::vector<double>& priority) {
  std::vector<std::uint8_t> is_critical(problem.op_count(), 0);
  constexpr std::uint32_t none = 0xFFFFFFFF;
  std::uint32_t at = none;
  const auto consider = [&](std::uint32_t op) {
    if (at == none || priority[op] > priority[at]) at = op;
  };
  for (const std::uint32_t op : problem.topological)
    if (problem.inputs[op].empty()) consider(op);
  while (at != none) {
    is_critical[at] = 1;
    const std::uint32_t op = at;
    at = none;
    for (const std::uint32_t tensor : problem.outputs[op])
      for (const std::uint32_t consumer : problem.consumers[tensor]) consider(consumer);
  }
  return is_critical;
}

// The device that runs the whole path in the least time; nothing if no device can run it.
std::optional<std::uint8_t> device_of_path(const Problem& problem, const Units& units,
                                           const std::vector<std::uint8_t>& is_critical) {
  std::optional<std::uint8_t> best;
  Ticks least = std::numeric_limits<Ticks>::max();
  for (std::size_t d = 0; d < units.devices; ++d) {
    Ticks sum = 0;
    for (std::size_t op = 0; op < is_critical.size() && sum >= 0; ++op) {
      if (is_critical[op] == 0) continue;
      sum =
          units.grouping.allows(units.grouping.unit_of_op[op], d) ? sum + problem.op_time[op * units.devices + d] : -1;
    }
    if (sum < 0 || sum >= least) continue;
    least = sum;
    best = static_cast<std::uint8_t>(d);
  }
  return best;
}

ListPlacement cpop(const Problem& problem, const Units& units, MemoryView view, const std::vector<double>& priority,
                   const Deadline& deadline) {
  const std::vector<std::uint8_t> is_critical = critical_path(problem, priority);
  const auto home = device_of_path(problem, units, is_critical);
  PartialSchedule schedule(problem, units, view);
  ReadyList ready(problem, priority);
  PacedDeadline time(deadline);
  while (!ready.empty() && !time.passed()) {
    const std::uint32_t op = ready.take();
    const auto best = schedule.best_slot(op, [&](const PartialSchedule::Slot& slot) {
      return std::pair(is_critical[op] != 0 && home != slot.device, slot.end);
    });
    schedule.place(op, best.device, best.start);
  }
  return list_placement(schedule);
}

PlacerResult place_cpop(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  const Deadline deadline(request.seconds, request.stop);
  const Problem& problem = *request.problem;
  const MeanCosts costs(problem);
  std::vector<double> priority = upward_ranks(problem, costs);
  const std::vector<double> down = downward_ranks(problem, costs);
  for (std::size_t op = 0; op < priority.size(); ++op) priority[op] += down[op];
  return place_by_list(request, deadline, if_needed, [&](const Units& units, MemoryView view, const Deadline& end) {
    return cpop(problem, units, view, priority, end);
  });
}

}  // namespace

PlacerEntry cpop_placer() {
  PlacerEntry entry;
  entry.name = "cpop";
  entry.summary = "List scheduling with the critical path on one device.";
  entry.reference = "Topcuoglu, Hariri, Wu (2002)";
  entry.options = list_options<NoOptions>;
  entry.place = place_cpop;
  return entry;
}

}  // namespace emplace::search
