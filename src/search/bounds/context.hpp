// What the methods that bound from below share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "emplace/search/bound.hpp"
#include "search/bounds/load_weights.hpp"
#include "search/common/deadline.hpp"
#include "search/common/earliest.hpp"

namespace emplace::search {

class BoundContext {
 public:
  BoundContext(const Problem& step_or_pipeline, double seconds)
      : problem(step_or_pipeline),
        deadline(seconds),
        possible(possible_devices(problem)),
        earliest(earliest_times(problem, possible)) {}

  const Problem& problem;
  const Deadline deadline;
  const std::vector<std::uint8_t> possible;  // N x D
  const EarliestTimes earliest;
  std::optional<LoadWeights> weights;  // the best so far, left by `load` for the methods after it
  Ticks best = 0;                      // of the methods so far
  bool nothing_feasible = false;       // a method has proved it

  // Nothing is feasible: why, with the numbers that prove it.
  [[nodiscard]] std::optional<std::string> infeasible() const;
};

BoundEntry critical_path_bound();
BoundEntry load_bound();
BoundEntry windows_bound();
BoundEntry memory_bound();
BoundEntry linear_bound();
BoundEntry search_bound();
BoundEntry pipeline_load_bound();
BoundEntry pipeline_linear_load_bound();

// For one part of a problem that nothing joins to the rest: how many devices hold `resident` bytes at least, by the
// largest memories; nothing if all of them do not.
std::optional<std::size_t> fewest_devices(const Problem& problem, Bytes resident);

}  // namespace emplace::search
