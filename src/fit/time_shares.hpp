// What takes the time of a step: devices and links by the share for which they are busy, and what devices wait for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emplace/graph/graph.hpp"
#include "emplace/machine/machine.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::fit {

struct TimeShare {
  std::string name;   // of a device or a link
  double share = 0;   // of the step
  std::string cause;  // of a device: "memory bandwidth", "arithmetic" or "kernel launches"; "" for links
};

// Bytes that each op reads and writes, by its name.
using Traffic = std::map<std::string, double>;
[[nodiscard]] Traffic traffic_of(const Graph& graph);

// The longest first; none if the placement cannot be timed.
[[nodiscard]] std::vector<TimeShare> time_shares(const Problem& problem, const machine::Machine& machine,
                                                 const Placement& placement, const Traffic& traffic);

}  // namespace emplace::fit
