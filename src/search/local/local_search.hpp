// Hill climbing: moves one unit at a time to a device with which the step becomes shorter, and one op at a time to a
// better position in the order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "emplace/problem/grouping.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::search {

struct LocalSearchOptions {
  std::uint64_t seed = 0;
  // Two budgets; the search ends with the first of them. A guess counts as much as a check. The start is always
  // evaluated.
  std::optional<std::uint64_t> evaluations;
  std::optional<double> seconds;
  std::function<bool()> stop = {};  // called now and then between guesses; true ends the search
  // Fewer moves are tried. Only units on the critical path: while its ops and transfers keep their devices and their
  // order, the step takes as long as before. And they only move to the devices of their producers and consumers and to
  // one random device, not its own: with many devices, most others make the step longer. While the placement is
  // infeasible, all moves are tried. And some of the moves whose guess is no improvement are checked too (ByCost in
  // unit_improver.hpp).
  bool guided = false;
};

struct LocalSearchResult {
  Placement placement;
  Outcome outcome;             // exact, under the schedule
  std::uint64_t guesses = 0;   // changes tried, most of them on the incremental engine
  std::uint64_t checks = 0;    // full simulations
  std::uint64_t accepted = 0;  // changes made
  bool settled = false;        // no change whose guess was better passed the check; false: a budget ended the search
};

// Sweeps over the units in random order. Each unit is tried on every device that can run it; if the best guess is
// better (Outcome's better()) than the current placement, it is checked exactly, and made if the check confirms it. If
// moving a unit alone is no improvement, and memory may be the reason, exchanges with units of the other device are
// tried. Under priority and in-order a sweep ends with the order moves of the critical path. The search ends after a
// sweep without a change or with the budget. The outcome is never worse than the start's, and is the same for the same
// seed unless `seconds` ends the search.
LocalSearchResult local_search(const Problem& problem, const Grouping& units, Schedule schedule, const Placement& start,
                               const LocalSearchOptions& options = {});

}  // namespace emplace::search
