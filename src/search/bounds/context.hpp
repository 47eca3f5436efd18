// The data that the methods for lower bounds share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "emplace/search/bound.hpp"
#include "search/bounds/joint_times.hpp"
#include "search/bounds/load_weights.hpp"
#include "search/common/deadline.hpp"
#include "search/common/earliest.hpp"

namespace emplace::search {

class BoundContext {
 public:
  BoundContext(const Problem& step_or_pipeline, double seconds, std::function<bool()> stop = {})
      : problem(step_or_pipeline),
        deadline(seconds, std::move(stop)),
        possible(possible_devices(problem)),
        earliest(earliest_times(problem, possible)) {}

  const Problem& problem;
  const Deadline deadline;
  const std::vector<std::uint8_t> possible;  // N x D
  const EarliestTimes earliest;
  std::optional<LoadWeights> weights;  // the best so far, computed by `load` for the methods after it
  std::optional<EarliestTimes> joint;  // computed by `joint-path` for the methods after it
  Ticks best = 0;                      // largest bound of the methods so far
  bool cut_short = false;              // a method's share of the time was over before the method was
  bool nothing_feasible = false;       // a method has proved that no placement is feasible

  // The best times that are known.
  [[nodiscard]] const EarliestTimes& times() const { return joint ? *joint : earliest; }

  // Why no placement is feasible, with the numbers that prove it; nothing if that is not known.
  [[nodiscard]] std::optional<std::string> infeasible() const;
};

BoundEntry critical_path_bound();
BoundEntry load_bound();
BoundEntry joint_path_bound();
BoundEntry windows_bound();
BoundEntry slots_bound();
BoundEntry energy_bound();
BoundEntry memory_bound();
BoundEntry linear_bound();
BoundEntry search_bound();
BoundEntry pipeline_load_bound();
BoundEntry pipeline_linear_load_bound();

// The least number of devices that can hold `resident` bytes, taking the largest memories first; nothing if all devices
// together cannot.
std::optional<std::size_t> fewest_devices(const Problem& problem, Bytes resident);

}  // namespace emplace::search
