// Branch and bound over all assignments of a space: for small chains, and a proof where it comes to its end.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fit/chain.hpp"
#include "fit/relaxation.hpp"

namespace emplace::fit {

struct Exact {
  std::optional<Assignment> assignment;  // better than `upper`; none: there is none, if `complete`
  bool complete = false;                 // everything was searched
};
// The fastest token for one order of the devices, below `upper` ticks, with at most `nodes` partial assignments.
[[nodiscard]] Exact search_exactly(const Chain& chain, const Space& space, const std::vector<std::uint8_t>& order,
                                   const Prices& prices, Ticks upper, std::uint64_t nodes);

}  // namespace emplace::fit
