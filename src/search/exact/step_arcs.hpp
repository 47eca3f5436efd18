// What linear programs of a step know of it: units, arcs between ops with the quickest transfer into each device, heads
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
  std::vector<Ticks> time;      // N x D, `never` where the op cannot be
  std::vector<Ticks> head;      // N x D: earliest start
  std::vector<Ticks> tail;      // N x D
  std::vector<Arc> arcs;        // E, one for each pair of ops that a tensor joins, by producer in topological order
  std::vector<Ticks> transfer;  // E x D: the least for v on d and u elsewhere; 0 within a unit

  [[nodiscard]] bool allows(std::size_t unit, std::size_t device) const {
    return time[units.members[unit].front() * devices + device] != never;
  }
};

}  // namespace emplace::search
