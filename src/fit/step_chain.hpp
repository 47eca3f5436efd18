// The chain of a language model's step: times and transfers of its units, from the problem of its graph.
#pragma once

#include <span>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "fit/chain.hpp"
#include "language/language_graph.hpp"

namespace emplace::fit {

// The units of a step and what they hold; times are not filled in.
[[nodiscard]] std::vector<Unit> units_of_step(std::span<const language::Unit> units);

struct StepChain {
  Chain chain;  // `room` is each device's whole memory
  // Whether latencies of the chain are lower bounds of simulated steps: every op of a unit needs the result of the unit
  // before it, and is needed for that of its own.
  bool is_serial = false;
};
// `problem`: of language_graph, whose co-location groups are the units.
[[nodiscard]] StepChain chain_of(const Problem& problem, std::vector<Unit> units);

// The placement of a step of the same model, also of another phase.
[[nodiscard]] Placement placement_of(const Problem& problem, std::span<const Unit> units, const Assignment& assignment);

}  // namespace emplace::fit
