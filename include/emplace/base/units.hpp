// Units of the simulation: integer picoseconds and integer bytes (docs/simulation.md, units).
#pragma once

#include <cstdint>

namespace emplace {

// Picoseconds. Integer, so that ties are exact and sums do not depend on their order.
using Ticks = std::int64_t;
using Bytes = std::int64_t;

inline constexpr double ticks_per_second = 1e12;

// Every total (bytes, picoseconds) stays at or below this, so that no sum of the engines can overflow.
inline constexpr std::int64_t total_limit = std::int64_t{1} << 62;

[[nodiscard]] constexpr double to_seconds(Ticks ticks) { return static_cast<double>(ticks) / ticks_per_second; }

}  // namespace emplace
