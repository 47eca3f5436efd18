// The input of graph partitioners: units as an undirected weighted graph, and devices as weighted processors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/common/units.hpp"

namespace emplace::search {

// Neighbours of unit u are neighbour[begin[u]] .. neighbour[begin[u + 1]], ascending, without u; every edge is listed
// at both ends with the same weight.
struct UnitGraph {
  std::vector<std::size_t> begin{0};
  std::vector<std::uint32_t> neighbour;
  std::vector<double> weight;  // see EdgeWeight
};

// What the edges of two units weigh: the time in ticks to send their tensors, mean over all routes; or their bytes.
enum class EdgeWeight : std::uint8_t { time, bytes };

UnitGraph make_unit_graph(const Problem& problem, const Grouping& grouping, EdgeWeight weight = EdgeWeight::time);

// The devices that a partitioner may use.
struct Processors {
  std::vector<std::uint8_t> device;  // K, ascending; each can run at least one unit
  std::vector<double> work;          // U: least time on any of them, in ticks; 0 if none can run the unit
  std::vector<double> speed;         // K: sum of work of all units that it can run / its time for them
  std::vector<double> distance;      // K x K: mean transfer time of both directions / the smallest; diagonal 0

  [[nodiscard]] std::size_t count() const { return device.size(); }
};

// The devices that `usable` (D: 1 or 0) has and that can run at least one unit; there may be none. Pairs without a
// route in either direction get ten times the distance of the farthest other pair, because partitioners have no input
// for missing routes.
Processors make_processors(const Problem& problem, const Units& units, std::span<const std::uint8_t> usable);

// U: the device of each unit; `part[u]` is its position in `processors`. Units that cannot run there are moved after
// all others are assigned, in the order of units: to the device that can run the unit (one of `processors`, if any can)
// for which load + the unit's time is least.
std::vector<std::uint8_t> settle(const Units& units, const Processors& processors, std::span<const std::uint32_t> part);

// Integers of at least 1 in proportion to `values`; their sum is about `total`, and at most `total` + their number. All
// are 1 if no value is above zero.
std::vector<std::int64_t> scaled(std::span<const double> values, double total);

}  // namespace emplace::search
