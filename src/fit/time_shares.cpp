#include "fit/time_shares.hpp"

#include <algorithm>

#include "emplace/simulate/engine.hpp"
#include "graph/ops/op_table.hpp"

namespace emplace::fit {

namespace {

// What the device's ops wait for most of the time that they take.
std::string cause_on(const Problem& problem, const machine::MachineDevice& device, std::size_t d,
                     const Placement& placement, const Traffic& traffic, double busy_s) {
  double traffic_s = 0, launches_s = 0;
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    if (placement.device[op] != d) continue;
    if (const auto found = traffic.find(problem.op_names[op]); found != traffic.end())
      traffic_s += found->second / device.memory_bytes_per_s;
    launches_s += device.launch_overhead_s;
  }
  if (traffic_s >= busy_s / 2) return "memory bandwidth";
  return launches_s >= busy_s / 2 ? "kernel launches" : "arithmetic";
}

}  // namespace

Traffic traffic_of(const Graph& graph) {
  Traffic traffic;
  for (std::size_t op = 0; op < graph.ops.size(); ++op) {
    const OpCost cost = cost_of(graph, OpId{op});
    traffic[graph.ops[op].name] = static_cast<double>(cost.bytes_read + cost.bytes_written);
  }
  return traffic;
}

std::vector<TimeShare> time_shares(const Problem& problem, const machine::Machine& machine, const Placement& placement,
                                   const Traffic& traffic) {
  Usage usage;
  const Outcome outcome = simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {.usage = &usage});
  if (!outcome.timed()) return {};
  std::vector<TimeShare> shares;
  const double step = static_cast<double>(std::max<Ticks>(outcome.makespan, 1));
  for (std::size_t d = 0; d < problem.device_count(); ++d) {
    const Ticks busy = usage.device_busy[d];
    if (busy > 0)
      shares.push_back({problem.devices[d].name, static_cast<double>(busy) / step,
                        cause_on(problem, machine.devices[d], d, placement, traffic, to_seconds(busy))});
  }
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    if (usage.channel_busy[c] > 0)
      shares.push_back({problem.channels[c].name, static_cast<double>(usage.channel_busy[c]) / step, ""});
  std::ranges::stable_sort(shares, std::ranges::greater(), &TimeShare::share);
  return shares;
}

}  // namespace emplace::fit
