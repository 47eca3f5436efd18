// Checks of decisions that come from a file, for Policy::check.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "emplace/base/error.hpp"

namespace emplace::policy {

// InputError unless `found` is `wanted`.
inline void check_count(std::size_t found, std::size_t wanted, std::string_view what) {
  if (found != wanted) throw InputError("checkpoint", "a sample has {} {}, wanted {}", found, what, wanted);
}

// InputError unless all actions are below the limit.
inline void check_below(std::span<const std::uint8_t> actions, std::size_t limit, std::string_view what) {
  for (const std::uint8_t action : actions)
    if (action >= limit)
      throw InputError("checkpoint", "a sample has {} {}, wanted a number below {}", what, action, limit);
}

inline void check_finite(std::span<const float> observation) {
  for (const float value : observation)
    if (!std::isfinite(value)) throw InputError("checkpoint", "a sample has an observation of {}", value);
}

}  // namespace emplace::policy
