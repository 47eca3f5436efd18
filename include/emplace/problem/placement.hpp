// A placement gives each op a device, and may come with an order of the ops.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace {

// R1: the order in which a device runs its ready ops.
enum class Schedule : std::uint8_t { fifo, priority, in_order };
enum class Objective : std::uint8_t { step, pipeline };

std::string_view name_of(Schedule schedule);                            // "fifo", "priority", "in-order"
std::string_view name_of(Objective objective);                          // "step", "pipeline"
Schedule schedule_of(std::string_view name, const std::string& place);  // InputError names the nearest valid name
Objective objective_of(std::string_view name, const std::string& place);

struct Placement {
  std::vector<std::uint8_t> device;  // N: device of each op
  std::vector<std::uint32_t> order;  // N op ids, producers before consumers; empty: none

  friend bool operator==(const Placement&, const Placement&) = default;
};

// InputError unless the placement has one valid device per op and the order (if any) is a topological permutation.
void check_placement(const Problem& problem, const Placement& placement, const std::string& place = {});

}  // namespace emplace
