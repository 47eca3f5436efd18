// The options of all integer programs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "emplace/base/options.hpp"
#include "emplace/search/placer.hpp"
#include "search/exact/integer_program.hpp"

namespace emplace::search {

struct SolverOptions {
  double seconds = 600;
  std::int64_t nodes = 1'000'000'000;
};

inline void describe(SolverOptions& o, OptionVisitor& visit) {
  visit("seconds", o.seconds,
        {.min = 0,
         .max = 1e9,
         .above_min = true,
         .unit = "s",
         .help = "Time limit of the solver if no --seconds is given."});
  visit("nodes", o.nodes,
        {.min = 0,
         .max = 2e9,
         .help = "Largest number of nodes of the solver's search tree; --evaluations limits it too."});
}

// The limits of one solve. A budget of evaluations limits the nodes, because there are only a few evaluations.
inline IntegerLimits limits_of(const SolverOptions& o, const PlacerRequest& request, double seconds_left) {
  std::int64_t nodes = o.nodes;
  if (request.evaluations)
    nodes = static_cast<std::int64_t>(std::min(static_cast<std::uint64_t>(nodes), *request.evaluations));
  return {seconds_left, nodes, request.stop};
}

}  // namespace emplace::search
