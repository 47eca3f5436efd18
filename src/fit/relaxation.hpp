// The cheapest assignment where each byte has a price instead of each device a capacity, by dynamic programming along
// the chain, and the lower bound that follows (Lagrangian relaxation, Fisher 1981): a plan within all capacities pays
// at most the prices of the capacities, so no plan is cheaper than the priced optimum less these.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fit/chain.hpp"

namespace emplace::fit {

enum class Aim : std::uint8_t { latency, throughput };

// Whole numbers, in parts of 2^price_bits, so that bounds are exact.
inline constexpr int price_bits = 20;
using Price = std::int64_t;
__extension__ using Wide = __int128;

struct Prices {
  std::vector<Price> byte;  // D: ticks for a byte; 0 for devices without a limit
  // D: what a tick of the device's time costs; latency: 2^price_bits for all. Their sum is 2^price_bits for throughput,
  // for which transfers cost nothing.
  std::vector<Price> tick;
};
[[nodiscard]] Prices no_prices(const Chain& chain, Aim aim);

struct Priced {
  Wide value = 0;  // in ticks x 2^price_bits; no_value if there is no assignment
  Assignment assignment;
};
inline constexpr Wide no_value = Wide{1} << 120;

// `order` is for ordered units, and may be empty if the space has none.
[[nodiscard]] Priced cheapest(const Chain& chain, const Space& space, const std::vector<std::uint8_t>& order, Aim aim,
                              const Prices& prices);

struct RelaxedBound {
  Ticks ticks = 0;          // no assignment with allowed devices that has room is faster
  Prices prices;            // that prove it
  bool infeasible = false;  // a unit is allowed on no device
};

// Subgradient ascent on the prices, without the order of ordered units. `target`: the cost of a plan, 0 if none is
// known. `seen` is called with each relaxed assignment.
[[nodiscard]] RelaxedBound relaxed_bound(const Chain& chain, const Space& space, Aim aim, Ticks target, int steps,
                                         const std::function<void(const Assignment&)>& seen = {});

}  // namespace emplace::fit
