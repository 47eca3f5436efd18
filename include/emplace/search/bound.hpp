// Certified lower bounds: of the step time for every feasible placement, order and schedule; of the pipeline's load for
// every feasible placement.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/registry.hpp"
#include "emplace/base/units.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::search {

struct LowerBound {
  Ticks ticks = 0;
  std::string method;  // what gave it: "critical-path", "load", ...
};

// What is quick and nearly always good: the critical path and the load with weights that need no linear program. Near
// linear in ops and edges x devices^2. A bound of feasible placements; where nothing is feasible it is that of the ops
// that can still be reached.
LowerBound lower_bound(const Problem& problem);

// Of the largest load of placements that keep groups together (docs/papers/tarnawski.md, section 7 item 6): devices
// weighted by how much faster they are than a reference at best, every group and op at its smallest weighted time; and
// the longest on its fastest device. Linear in ops x devices^2.
LowerBound pipeline_lower_bound(const Problem& problem);
LowerBound lower_bound(const Problem& problem, Objective objective);

// One way to bound, in a file of its own.
class BoundContext;  // what the methods share: src/search/bounds/context.hpp
struct BoundEntry : EntryInfo {
  Objective objective = Objective::step;
  Ticks (*bound)(BoundContext& context) = nullptr;  // valid whenever its time ends; 0: nothing
};
std::span<const BoundEntry> bound_methods();

struct BoundReport {
  std::vector<LowerBound> methods;        // by every method for the objective, in the order of bound_methods()
  std::optional<std::string> infeasible;  // proof that no placement is feasible, one sentence; then `methods` is empty

  [[nodiscard]] LowerBound best() const;  // the first of the largest
};

// Every method in turn, the quick ones first; those that go on improving share `seconds`.
BoundReport lower_bounds(const Problem& problem, Objective objective, double seconds);

}  // namespace emplace::search
