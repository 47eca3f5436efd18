// Finds an assignment of a chain within a runtime's space, and proves how good it is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fit/chain.hpp"
#include "fit/relaxation.hpp"

namespace emplace::fit {

struct PlannerRequest {
  const Chain& chain;
  const Space& space;
  // Of the devices of ordered units; at least one. Where these are not all, others are tried by exchanging
  // accelerators, which begin at `first_exchanged` in every order.
  std::vector<std::vector<std::uint8_t>> orders;
  std::size_t first_exchanged = 0;
  bool all_orders = false;  // no other order can be better
  Aim aim = Aim::latency;
  std::vector<std::uint8_t> exempt;  // D, as in `loads`
  std::vector<Assignment> starts;    // plans of greedy rules, in the space for the first order
};

struct Planned {
  std::optional<Assignment> assignment;  // none: no plan that has room was found
  std::vector<std::uint8_t> order;       // of the devices of ordered units
  Ticks ticks = 0;                       // what is minimised, as the planner counts it
  Ticks bound = 0;                       // no plan is below
  bool proved = false;                   // everything was searched: this is the best plan, or there is none
};

// Deterministic: its effort is counted, not timed.
[[nodiscard]] Planned plan(const PlannerRequest& request);

}  // namespace emplace::fit
