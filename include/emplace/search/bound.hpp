// Certified lower bounds: on the step time of every feasible placement under every order and schedule, and on the
// pipeline's load of every feasible placement.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/registry.hpp"
#include "emplace/base/types.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::search {

struct LowerBound {
  Ticks ticks = 0;
  std::string method;  // the method that found it: "critical-path", "load", ...
};

// The larger of two bounds that are quick and nearly always good: the critical path, and the load with weights that
// need no linear program. Takes time near linear in ops and edges x devices^2. It bounds feasible placements; if none
// is feasible, only the ops that can still be reached count.
LowerBound lower_bound(const Problem& problem);

// A bound on the largest load of placements that keep groups together (docs/papers/tarnawski.md, section 7 item 6): the
// larger of (1) the sum of smallest weighted times of all groups and ops, divided by the sum of weights, where a
// device's weight is its largest speed-up over a reference device, and (2) the longest group or op on its fastest
// device. Takes time linear in ops x devices^2.
LowerBound pipeline_lower_bound(const Problem& problem);
LowerBound lower_bound(const Problem& problem, Objective objective);

// One method of bounding; each is in a file of its own.
class BoundContext;  // what the methods share (src/search/bounds/context.hpp)
struct BoundEntry : EntryInfo {
  Objective objective = Objective::step;
  Ticks (*bound)(BoundContext& context) = nullptr;  // valid even if its time runs out; 0: no bound found
};
std::span<const BoundEntry> bound_methods();

struct BoundReport {
  std::vector<LowerBound> methods;        // of every method for the objective, in the order of bound_methods()
  std::optional<std::string> infeasible;  // one sentence proving that no placement is feasible; then `methods` is empty
  bool cut_short = false;                 // with more time a bound may be larger

  [[nodiscard]] LowerBound best() const;  // the largest, the first of equals
};

// Runs every method in turn, the quick ones first. Methods that keep improving their bound share `seconds`; if `stop`
// is given, their time also ends soon after it returns true. It is called on this thread.
BoundReport lower_bounds(const Problem& problem, Objective objective, double seconds,
                         const std::function<bool()>& stop = {});

}  // namespace emplace::search
