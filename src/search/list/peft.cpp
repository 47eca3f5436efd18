// PEFT: computes a table of optimistic costs, from each op on each device to the end of the step. Ready ops are taken
// by decreasing mean of their row, and go to the device with the smallest end plus optimistic cost.
#include <algorithm>

#include "search/list/mean_costs.hpp"
#include "search/list/partial_schedule.hpp"
#include "search/list/ready_list.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

// N x D (equation 4): the remaining time after the op on that device, with every later op on its best device; 0 for ops
// without consumers.
std::vector<double> optimistic_costs(const Problem& problem, const MeanCosts& costs) {
  const std::size_t devices = problem.device_count();
  std::vector<double> table(problem.op_count() * devices, 0);
  for (auto at = problem.topological.rbegin(); at != problem.topological.rend(); ++at)
    for (const std::uint32_t tensor : problem.outputs[*at])
      for (const std::uint32_t consumer : problem.consumers[tensor]) {
        // The best device after a transfer; without one if the consumer stays on the same device.
        double moved = std::numeric_limits<double>::infinity();
        const auto rest = [&](std::size_t d) {
          return table[consumer * devices + d] + static_cast<double>(problem.op_time[consumer * devices + d]);
        };
        for (std::size_t d = 0; d < devices; ++d)
          if (problem.op_time[consumer * devices + d] != cannot_run)
            moved = std::min(moved, rest(d) + costs.transfer[tensor]);
        for (std::size_t d = 0; d < devices; ++d) {
          const bool stays = problem.op_time[consumer * devices + d] != cannot_run;
          double& entry = table[*at * devices + d];
          entry = std::max(entry, stays ? std::min(moved, rest(d)) : moved);
        }
      }
  return table;
}

// N: the mean of the op's row over the devices that can run it.
std::vector<double> mean_rows(const Problem& problem, const std::vector<double>& table) {
  const std::size_t devices = problem.device_count();
  std::vector<double> rank;
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    double sum = 0, able = 0;
    for (std::size_t d = 0; d < devices; ++d) {
      if (problem.op_time[op * devices + d] == cannot_run) continue;
      sum += table[op * devices + d];
      ++able;
    }
    rank.push_back(sum / able);
  }
  return rank;
}

ListPlacement peft(const Problem& problem, const Units& units, MemoryView view, const std::vector<double>& table,
                   const std::vector<double>& rank, const Deadline& deadline) {
  PartialSchedule schedule(problem, units, view);
  ReadyList ready(problem, rank);
  PacedDeadline time(deadline);
  while (!ready.empty() && !time.passed()) {
    const std::uint32_t op = ready.take();
    const auto best = schedule.best_slot(op, [&](const PartialSchedule::Slot& slot) {
      return static_cast<double>(slot.end) + table[op * units.devices + slot.device];
    });
    schedule.place(op, best.device, best.start);
  }
  return list_placement(schedule);
}

PlacerResult place_peft(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  const Deadline deadline(request.seconds, request.stop);
  const Problem& problem = *request.problem;
  const std::vector<double> table = optimistic_costs(problem, MeanCosts(problem));
  const std::vector<double> rank = mean_rows(problem, table);
  return place_by_list(request, deadline, if_needed, [&](const Units& units, MemoryView view, const Deadline& end) {
    return peft(problem, units, view, table, rank, end);
  });
}

}  // namespace

PlacerEntry peft_placer() {
  PlacerEntry entry;
  entry.name = "peft";
  entry.summary = "List scheduling that looks ahead by a table of optimistic costs.";
  entry.reference = "Arabnejad, Barbosa (2014)";
  entry.options = list_options<NoOptions>;
  entry.place = place_peft;
  return entry;
}

}  // namespace emplace::search
