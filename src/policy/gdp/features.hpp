// Input features of GDP's network. A node is a unit of the problem's grouping; nodes are in topological order
// (docs/papers/gdp.md, section 2.1).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace::policy {

struct GdpFeatureOptions {
  bool neighbours = true;          // relative positions of the first predecessors
  std::vector<std::string> kinds;  // kinds of devices whose times are read ("" is a kind)
  std::size_t position_waves = 0;
  bool device_features = false;
  bool relative_costs = false;  // relative_costs.hpp
};

inline constexpr std::size_t gdp_predecessors = 5;
inline constexpr std::size_t gdp_dimensions = 4;
// Columns of a device's features.
inline constexpr std::size_t gdp_device_waves = 4;
inline constexpr std::size_t gdp_device_features = 6 + 2 * gdp_device_waves;

std::size_t gdp_feature_count(const GdpFeatureOptions& options);

struct GdpFeatures {
  Lists types;                 // N: types of each unit's ops
  std::vector<float> rows;     // N x gdp_feature_count
  Lists neighbours;            // N: predecessors and successors, ascending
  Lists all;                   // one list of all N
  std::vector<float> devices;  // D x gdp_device_features, or empty
  std::vector<float> pairs;    // N x (D x gdp_pair_costs), or empty
};

// Blocks of a row, each averaged over the unit's ops where there are several:
//   the last four dimensions of the first output, log(1 + dimension), padded with 0 on the left;
//   for the first five predecessors, (position(u) - position(v)) / N, 0 where absent;
//   for each kind, log(time / mean time of all units on it), 0 where it has no device that can run the unit;
//   with relative_costs those of the unit;
//   waves of the position (set_position_waves).
// A device's features: log of its speed relative to each op's fastest device, the share of ops that it can run, log(1 +
// memory / resident bytes of all ops), log(1 + time of a mean transfer from and to it / mean op time), 1 / D, and waves
// of its number, the only features that differ between equal devices. Throws InputError, naming problem, unit and
// block, for values that are not finite.
GdpFeatures gdp_features(const PolicyProblem& problem, std::span<const std::string> op_types,
                         const GdpFeatureOptions& options);

// The kinds of the problems' devices, sorted.
std::vector<std::string> device_kinds_of(std::span<const PolicyProblem> problems);

}  // namespace emplace::policy
