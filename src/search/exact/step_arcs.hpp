// The data of a step for linear programs: units, arcs between ops with the quickest transfer into each device, heads
// and tails.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/grouping.hpp"
#include "search/common/earliest.hpp"

namespace emplace::search {

struct StepArcs {
  StepArcs(const Problem& problem, const std::vector<std::uint8_t>& possible, const EarliestTimes& earliest);

  struct Arc {
    std::uint32_t from, to;  // ops
  };

  const Problem& problem;
  std::size_t ops, devices;
  Grouping units;
  std::vector<Ticks> time;  // N x D; `never` if the op cannot be on the device
  std::vector<Ticks> head;  // N x D: earliest start
  std::vector<Ticks> tail;  // N x D
  // E, one for each pair of ops with a tensor between them, by producer in topological order.
  std::vector<Arc> arcs;
  std::vector<Ticks> transfer;  // E x D: least transfer time for v on d and u elsewhere; 0 within a unit

  [[nodiscard]] bool allows(std::size_t unit, std::size_t device) const {
    return time[units.members[unit].front() * devices + device] != never;
  }
};

}  // namespace emplace::search
