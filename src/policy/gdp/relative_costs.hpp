// Costs of units relative to other devices and to other units: features that mean the same on every machine, whatever
// kinds of devices it has.
#pragma once

#include <cstddef>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace::policy {

inline constexpr std::size_t gdp_unit_costs = 4;
inline constexpr std::size_t gdp_pair_costs = 3;

struct RelativeCosts {
  // N x gdp_unit_costs: log of the time on the fastest device / the mean of these times; log of the mean time over the
  // devices / that time; log(1 + resident bytes / the mean of the units); log(1 + seconds to send its tensors to
  // another unit, the mean over devices, / that time).
  std::vector<float> units;
  // N x (D x gdp_pair_costs): log of the time on the fastest device / the time on this; log(1 + N x resident bytes /
  // the device's memory); log(1 + seconds to send its tensors from here / the time on the fastest device). 0 where the
  // unit cannot run.
  std::vector<float> pairs;
};
RelativeCosts relative_costs(const PolicyProblem& problem);

}  // namespace emplace::policy
