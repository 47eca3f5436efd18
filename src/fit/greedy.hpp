// The rules by which runtimes place layers themselves: the planner starts from their plans, and is compared with them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fit/chain.hpp"

namespace emplace::fit {

struct GreedyRequest {
  const Chain& chain;
  std::vector<std::uint8_t> hosts;         // devices that take what does not fit on the others, in this order
  std::vector<std::uint8_t> accelerators;  // in the order in which they get layers
  bool input_on_host = false;              // otherwise it is with the first layer
};

struct GreedyRule {
  const char* name;
  const char* summary;
  // nullopt if the rule finds no plan that has room.
  std::optional<Assignment> (*place)(const GreedyRequest& request);
};
// fill-in-order, proportional.
[[nodiscard]] std::span<const GreedyRule> greedy_rules();

}  // namespace emplace::fit
