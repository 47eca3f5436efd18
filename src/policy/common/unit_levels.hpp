// From coarse to fine: the units of a problem, merged to half as many again and again.
#pragma once

#include <algorithm>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace::policy {

// The coarsest, of `coarsest` units or as few as devices allow, first, and the problem's own units last; 0: these
// alone.
inline std::vector<Grouping> halved_levels(const PolicyProblem& problem, std::size_t coarsest) {
  if (coarsest == 0) return {problem.grouping};
  return levels_of(problem.grouping, coarsest, [&](const Grouping& finer) {
    return coarsen(*problem.problem, finer, std::max(coarsest, (finer.count() + 1) / 2));
  });
}

}  // namespace emplace::policy
