// Groupings of a problem's units from coarse to fine, each with about half as many units as the next.
#pragma once

#include <algorithm>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace::policy {

// The first level has `coarsest` units, or as few as the devices allow; the last has the problem's own units. 0: only
// that last level.
inline std::vector<Grouping> halved_levels(const PolicyProblem& problem, std::size_t coarsest) {
  if (coarsest == 0) return {problem.grouping};
  return levels_of(problem.grouping, coarsest, [&](const Grouping& finer) {
    return coarsen(*problem.problem, finer, std::max(coarsest, (finer.count() + 1) / 2));
  });
}

}  // namespace emplace::policy
