// Groupings of a problem's units from coarse to fine, each with about half as many units as the next.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "emplace/base/options.hpp"
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

// The option with the share of level_at(). `what` is drawn in blocks while the option `blocks` is not 0.
inline void visit_coarse_share(OptionVisitor& visit, double& share, const std::string& what,
                               const std::string& blocks) {
  visit("coarse_share", share,
        {.min = 0,
         .max = 1,
         .help = fmt::format("Share of the training's budget after which every {} is drawn separately ({}); the levels "
                             "before have equal parts of it.",
                             what, blocks),
         .only_with = {{blocks, {"0"}, true}}});
}

// The unit of a coarser level that each unit belongs to.
inline std::vector<std::uint32_t> unit_of_level(const Grouping& units, const Grouping& level) {
  std::vector<std::uint32_t> of_unit;
  of_unit.reserve(units.count());
  for (std::size_t unit = 0; unit < units.count(); ++unit)
    of_unit.push_back(level.unit_of_op[units.members[unit].front()]);
  return of_unit;
}

// The level, 0 to `levels` - 1, of an update before which the share `progress` of the training's budget was used: the
// last one from `share` on; those before have equal parts of it.
inline std::size_t level_at(double progress, double share, std::size_t levels) {
  const std::size_t last = levels - 1;
  return progress >= share ? last : static_cast<std::size_t>(progress / share * static_cast<double>(last));
}

}  // namespace emplace::policy
