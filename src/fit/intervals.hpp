// The best division of a chain whose units are all ordered, for one order of the devices: exact, by dynamic programming
// over (devices used, units placed).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fit/chain.hpp"
#include "fit/relaxation.hpp"

namespace emplace::fit {

// Whether the space is of this kind: every unit is ordered, and none is of experts.
[[nodiscard]] bool is_divisible(const Chain& chain, const Space& space);
// nullopt if no division has room. `exempt` as in `loads`.
[[nodiscard]] std::optional<Assignment> best_division(const Chain& chain, const Space& space,
                                                      const std::vector<std::uint8_t>& order, Aim aim,
                                                      const std::vector<std::uint8_t>& exempt);

}  // namespace emplace::fit
