// The placers of a recipe's `compare`, run after the training to compare its placement with theirs.
#pragma once

#include <string>
#include <vector>

#include "app/result_json.hpp"
#include "base/text.hpp"
#include "experiment/run/training.hpp"
#include "search/common/deadline.hpp"

namespace emplace::app {

// The time for all comparisons of a training together: with a budget of `seconds`, 5 s and a tenth of it; else no
// limit.
search::Deadline deadline_of_comparisons(const experiment::Recipe& recipe);

struct ComparedPlacers {
  std::vector<verdict::Reference> found;           // on simulated times only
  std::vector<std::string> ended_early, left_out;  // for lack of time

  // "the comparisons ended after 7 s (5 s and a tenth of `seconds`): random was ended early; best was left out", or
  // "the comparisons were stopped on request: ..."; "" if all had enough time.
  [[nodiscard]] std::string missing(const experiment::Recipe& recipe) const;
};

// Runs the placers on the report's problem, number `p` of `problems`, with as many evaluations as the training had, and
// adds a row for each to the table: placement, time, feasible, evaluations. `evaluator` is the training's. A requested
// stop ends them too.
ComparedPlacers compare_with_placers(const experiment::Training& training, evaluate::Evaluator& evaluator,
                                     const PlacementReport& report, std::size_t p, std::size_t problems,
                                     const search::Deadline& deadline, TextTable& table);

// The cells of such a row.
std::vector<std::string> compared_row(const std::string& name, const PlacementReport& report,
                                      const Placement& placement, const Outcome& outcome, std::uint64_t evaluations);

}  // namespace emplace::app
