// Hill climbing: moves one unit at a time to the device where the step becomes shorter, and one op at a time to a
// better place in the order.
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
  // Budgets; whichever ends first. Guesses and checks count alike; the start is always evaluated.
  std::optional<std::uint64_t> evaluations;
  std::optional<double> seconds;
  std::function<bool()> stop = {};  // asked between guesses; true ends the search
};

struct LocalSearchResult {
  Placement placement;
  Outcome outcome;             // exact, by the schedule
  std::uint64_t guesses = 0;   // changes tried, most of them on the incremental engine
  std::uint64_t checks = 0;    // full simulations
  std::uint64_t accepted = 0;  // changes made
  bool settled = false;        // no change that a guess promised passed the check; false: a budget ended it
};

// Sweeps over the units in random order; each is tried on every device that can run it, the best guess is checked
// exactly if it is better (Outcome's better()) than the current placement, and made if the check agrees. Where a
// unit cannot improve alone, and memory may be the reason, it tries to change places with one from there. Under
// priority and in-order a sweep ends with the order moves of the critical path. Ends after a sweep without a change or
// with the budget. The outcome is never worse than the start's. The same for the same seed unless `seconds` ends it.
LocalSearchResult local_search(const Problem& problem, const Grouping& units, Schedule schedule, const Placement& start,
                               const LocalSearchOptions& options = {});

}  // namespace emplace::search
