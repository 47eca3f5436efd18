// HEFT: takes ops by decreasing upward rank, and puts each on the device on which it would end first, in idle time if
// it fits. With `lookahead`, on the device for which the latest of its consumers could end first.
#include <algorithm>

#include "search/list/mean_costs.hpp"
#include "search/list/partial_schedule.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

struct HeftOptions {
  bool lookahead = false;
};

void describe(HeftOptions& options, OptionVisitor& visit) {
  visit("lookahead", options.lookahead,
        {.help = "Choose an op's device by the time at which its consumers could end (Bittencourt et al. 2010)."});
}

// The earliest time by which all of the op's consumers could end, if the op itself runs on `device` until `finish`.
Ticks latest_consumer(const Problem& problem, const Units& units, PartialSchedule& schedule, std::uint32_t op,
                      std::uint8_t device, Ticks finish) {
  Ticks latest = 0;
  for (const std::uint32_t tensor : problem.outputs[op])
    for (const std::uint32_t consumer : problem.consumers[tensor]) {
      const bool together = units.grouping.unit_of_op[consumer] == units.grouping.unit_of_op[op];
      Ticks earliest = std::numeric_limits<Ticks>::max();
      for (const std::uint8_t to : schedule.candidates(consumer)) {
        if (together && to != device) continue;
        const Ticks ready = std::max(schedule.ready(consumer, to), schedule.arrival(tensor, device, finish, to));
        const Ticks duration = schedule.duration(consumer, to);
        earliest = std::min(earliest, schedule.first_gap(to, ready, duration) + duration);
      }
      latest = std::max(latest, earliest);
    }
  return latest;
}

ListPlacement heft(const Problem& problem, const Units& units, MemoryView view, const std::vector<std::uint32_t>& order,
                   bool lookahead, const Deadline& deadline) {
  PartialSchedule schedule(problem, units, view);
  PacedDeadline time(deadline);
  for (const std::uint32_t op : order) {
    if (time.passed()) break;
    using Value = PartialSchedule::Value;
    const auto value = [&](const PartialSchedule::Slot& slot) {
      if (!lookahead) return std::pair(Ticks{0}, slot.end);
      schedule.borrow(op, slot.device, slot.start);
      const Ticks consumers = latest_consumer(problem, units, schedule, op, slot.device, slot.end);
      schedule.give_back();
      return std::pair(consumers, slot.end);
    };
    const auto best = schedule.best_slot(op, value, lookahead ? Value::any : Value::grows);
    schedule.place(op, best.device, best.start);
  }
  return list_placement(schedule);
}

PlacerResult place_heft(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<HeftOptions>(table);
  const Deadline deadline(request.seconds, request.stop);
  const Problem& problem = *request.problem;
  const auto order = order_by_decreasing(problem, upward_ranks(problem, MeanCosts(problem)));
  return place_by_list(request, deadline, if_needed, [&](const Units& units, MemoryView view, const Deadline& end) {
    return heft(problem, units, view, order, options.lookahead, end);
  });
}

}  // namespace

PlacerEntry heft_placer() {
  PlacerEntry entry;
  entry.name = "heft";
  entry.summary = "Upward-rank list scheduling with insertion.";
  entry.reference = "Topcuoglu, Hariri, Wu (2002)";
  entry.options = list_options<HeftOptions>;
  entry.place = place_heft;
  return entry;
}

}  // namespace emplace::search
