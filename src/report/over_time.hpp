// What happens on a device over a step, as one line of text: ▁▂▃▄▅▆▇█.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/timeline/memory_timeline.hpp"

namespace emplace::report {

// One character for each value in [0, 1]; a dot for exactly 0.
std::string bars(const std::vector<double>& values);

// The share of each of `count` equal stretches of the step for which `device` was busy.
std::vector<double> busy_over_time(const Placement& placement, const simulate::Timeline& timeline, DeviceId device,
                                   Ticks makespan, std::size_t count);
// The highest level in each of `count` equal stretches of the step, divided by the peak (0 if the peak is 0).
std::vector<double> memory_over_time(const simulate::DeviceMemory& memory, Ticks makespan, std::size_t count);

}  // namespace emplace::report
