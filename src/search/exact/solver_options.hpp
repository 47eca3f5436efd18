// What can be told of every integer program.
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
         .help = "Time for the solver, unless --seconds gives it."});
  visit("nodes", o.nodes,
        {.min = 0, .max = 2e9, .help = "Most nodes of the solver's search tree; with --evaluations as many at most."});
}

// What is left until the deadline. Evaluations are few, so that a budget of them is one of nodes.
inline IntegerLimits limits_of(const SolverOptions& o, const PlacerRequest& request, double seconds_left) {
  std::int64_t nodes = o.nodes;
  if (request.evaluations)
    nodes = static_cast<std::int64_t>(std::min(static_cast<std::uint64_t>(nodes), *request.evaluations));
  return {seconds_left, nodes, request.stop};
}

}  // namespace emplace::search
