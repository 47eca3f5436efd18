#include "report/viewer_times.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace emplace::report {

namespace {

constexpr Ticks nanosecond = 1000;

constexpr Ticks most_late = 2 * nanosecond;

// `earliest` is when its device, channels and inputs are free. By induction no item begins or ends more than most_late
// plus a nanosecond later than its time rounded down: an item of a nanosecond or more does not increase the delay, and
// a shorter one is left out if it would begin later than most_late.
ViewerTimes::Span on_grid(Ticks start, Ticks end, Ticks earliest) {
  const Ticks own = start / nanosecond * nanosecond;
  const Ticks begin = std::max(own, earliest);
  if (end - start < nanosecond && begin > own + most_late) return {earliest, earliest};
  return {begin, std::max(end / nanosecond * nanosecond, begin + nanosecond)};
}

}  // namespace

ViewerTimes viewer_times(const Problem& problem, const Placement& placement, const simulate::Timeline& timeline) {
  const std::size_t ops = problem.op_count();
  // In the order in which they start in the simulation: an item's predecessors come first, since every item takes time.
  std::vector<std::uint32_t> order(ops + timeline.transfers.size());  // ops, then transfers
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) {
    return std::pair(i < ops ? timeline.op_start[i] : timeline.transfers[i - ops].start, i);
  });

  ViewerTimes times{std::vector<ViewerTimes::Span>(ops), std::vector<ViewerTimes::Span>(timeline.transfers.size())};
  std::vector<Ticks> device_free(problem.device_count(), 0);
  std::vector<Ticks> channel_free(problem.channels.size(), 0);
  std::vector<Ticks> inputs_there(ops, 0);
  const auto arrive = [&](std::uint32_t tensor, std::size_t device, Ticks when) {
    for (const std::uint32_t consumer : problem.consumers[tensor])
      if (placement.device[consumer] == device) inputs_there[consumer] = std::max(inputs_there[consumer], when);
  };
  for (const std::uint32_t i : order) {
    if (i < ops) {
      Ticks& free = device_free[placement.device[i]];
      times.ops[i] = on_grid(timeline.op_start[i], timeline.op_end[i], std::max(free, inputs_there[i]));
      free = times.ops[i].end;
      for (const std::uint32_t tensor : problem.outputs[i]) arrive(tensor, placement.device[i], free);
      continue;
    }
    const simulate::Timeline::Transfer& transfer = timeline.transfers[i - ops];
    const auto route = problem.route(transfer.from, transfer.to);
    Ticks earliest = times.ops[problem.producer[transfer.tensor.index()].index()].end;
    for (const std::uint32_t channel : route)
      if (problem.channels[channel].contention) earliest = std::max(earliest, channel_free[channel]);
    const ViewerTimes::Span span = on_grid(transfer.start, transfer.end, earliest);
    times.transfers[i - ops] = span;
    for (const std::uint32_t channel : route) channel_free[channel] = span.end;
    arrive(transfer.tensor.value, transfer.to.index(), span.end);
  }
  return times;
}

}  // namespace emplace::report
