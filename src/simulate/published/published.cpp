// The list of published simulators: a new one is a source file, a line in published/entries.hpp and a line here.
#include "simulate/published/published.hpp"

#include <algorithm>

#include "base/query.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "simulate/published/entries.hpp"

namespace emplace::simulate {

std::span<const SimulatorEntry> simulators() {
  static const SimulatorEntry entries[] = {
      plain_simulator(),
      placeto_simulator(),
      grappler_simulator(),
      baechi_simulator(),
      giph_simulator(),
      doppler_simulator(),
      quickp_simulator(),
      tensorflow_1_simulator(),
      tarnawski_latency_simulator(),
      tarnawski_throughput_simulator(),
  };
  return entries;
}

ReadyOrder ready_order_of(Schedule schedule) {
  switch (schedule) {
    case Schedule::fifo: return ReadyOrder::fifo;
    case Schedule::priority: return ReadyOrder::priority;
    case Schedule::in_order: return ReadyOrder::in_order;
  }
  EMPLACE_CHECK(false, "unknown schedule");
}

bool SimulatorEntry::takes(Schedule schedule) const {
  return std::ranges::find(schedules, schedule) != schedules.end();
}

std::unique_ptr<Engine> ChosenSimulator::make(const Problem& problem, std::optional<Schedule> schedule) const {
  if (schedule && !entry->takes(*schedule)) {
    std::vector<std::string> names;
    for (const Schedule known : entry->schedules) names.emplace_back(name_of(known));
    throw InputError(options.place(), "the simulator {} has no schedule {}; {}", entry->name, name_of(*schedule),
                     names.empty() ? "its ready order is fixed" : "it has: " + join(names, ", "));
  }
  const Schedule own = entry->schedules.empty() ? Schedule::fifo : entry->schedules.front();
  return entry->make(problem, schedule.value_or(own), options);
}

ChosenSimulator choose_simulator(std::string_view specification, const std::string& place) {
  NamedQuery query = parse_query(specification, place);
  return {&find_entry(simulators(), query.name, "simulator", place), std::move(query.options)};
}

}  // namespace emplace::simulate
