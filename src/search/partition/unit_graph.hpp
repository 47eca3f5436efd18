// Units as an undirected weighted graph, and devices as weighted processors: what graph partitioners see of a problem.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/common/units.hpp"

namespace emplace::search {

// Neighbours of unit u are neighbour[begin[u]] .. neighbour[begin[u + 1]], ascending, without u; every edge is there
// from both ends with the same weight.
struct UnitGraph {
  std::vector<std::size_t> begin{0};
  std::vector<std::uint32_t> neighbour;
  std::vector<double> weight;  // ticks that both exchange if they part, at the mean over all routes
};

UnitGraph make_unit_graph(const Problem& problem, const Grouping& grouping);

// The devices that a partitioner may use.
struct Processors {
  std::vector<std::uint8_t> device;  // K, ascending; each can run something
  std::vector<double> work;          // U: least time on any of them, in ticks; 0 where none of them can run the unit
  std::vector<double> speed;         // K: sum of the work of all units that it can run / its own time for them
  std::vector<double> distance;      // K x K: mean transfer time of both directions / the smallest of all; 0 diagonal

  [[nodiscard]] std::size_t count() const { return device.size(); }
};

// The devices that `usable` (D: 1 or 0) has and that can run at least one unit; there may be none. Pairs without a
// route in either direction are ten times as far apart as the farthest other pair: a partitioner cannot be told that
// there is no way.
Processors make_processors(const Problem& problem, const Units& units, std::span<const std::uint8_t> usable);

// U: the device of each unit, `part[u]` as a position in `processors`. A unit that cannot run there goes to the device
// that can, of `processors` if one of them can, where load + its time is least; in the order of units, after all
// others.
std::vector<std::uint8_t> settle(const Units& units, const Processors& processors, std::span<const std::uint32_t> part);

// Whole numbers from 1 on in proportion to `values`; their sum is about `total`, and at most total + their number. All
// 1 where no value is above zero.
std::vector<std::int64_t> scaled(std::span<const double> values, double total);

}  // namespace emplace::search
