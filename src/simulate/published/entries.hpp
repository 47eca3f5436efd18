// The published simulators, one source file each. They are listed in published.cpp.
#pragma once

#include "simulate/published/published.hpp"

namespace emplace::simulate {

SimulatorEntry plain_simulator();
SimulatorEntry placeto_simulator();
SimulatorEntry grappler_simulator();
SimulatorEntry baechi_simulator();
SimulatorEntry giph_simulator();
SimulatorEntry doppler_simulator();
SimulatorEntry quickp_simulator();
SimulatorEntry tensorflow_1_simulator();
SimulatorEntry tarnawski_latency_simulator();
SimulatorEntry tarnawski_throughput_simulator();

ReadyOrder ready_order_of(Schedule schedule);

// An entry whose engine is the switched one, with the switches that `switches_of(options, schedule)` returns. `Options`
// is a struct with a function describe() (base/options.hpp).
template <class Options>
SimulatorEntry switched_entry(Switches (*switches_of)(const Options& options, Schedule schedule)) {
  SimulatorEntry entry;
  entry.options = list_options<Options>;
  entry.make = [switches_of](const Problem& problem, Schedule schedule, const ConfigTable& options) {
    return make_switched_engine(problem, switches_of(read_options<Options>(options), schedule));
  };
  return entry;
}

}  // namespace emplace::simulate
