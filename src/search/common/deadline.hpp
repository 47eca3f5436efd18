// The end of a budget of seconds, or an earlier request to stop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>

#include "emplace/search/placer.hpp"
#include "search/common/budget_clock.hpp"

namespace emplace::search {

// The budget of a placer that starts when no seconds are left: budgets of 0 are refused.
inline constexpr double least_seconds = 1e-9;

class Deadline {
 public:
  explicit Deadline(std::optional<double> seconds, std::function<bool()> stop = {})
      : seconds_(seconds), stop_(std::move(stop)) {}

  [[nodiscard]] bool passed() const { return left() <= 0 || (stop_ && stop_()); }
  [[nodiscard]] double left() const {  // in seconds; infinite without a budget
    return seconds_ ? *seconds_ - elapsed() : std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] double elapsed() const { return clock_seconds() - start_; }  // seconds since construction

 private:
  std::optional<double> seconds_;
  std::function<bool()> stop_;
  double start_ = clock_seconds();
};

// Number of placements that are evaluated between two looks at the clock: with a budget of seconds fewer if the problem
// is large.
inline std::size_t evaluations_between_checks(const PlacerRequest& request) {
  constexpr std::size_t most = 32, op_runs = 1'000'000;
  if (!request.seconds) return most;
  return std::clamp<std::size_t>(op_runs / std::max<std::size_t>(request.problem->op_count(), 1), 1, most);
}

// Looks at a deadline once in `pace` steps of a loop, the first time after the first `pace`: a loop of fewer steps runs
// to its end.
class PacedDeadline {
 public:
  static constexpr std::size_t pace = 256;

  // The deadline must outlive this object.
  explicit PacedDeadline(const Deadline& deadline) : deadline_(deadline) {}

  // To be called before each step; true from the step on at which the deadline was found to have passed.
  bool passed() {
    if (!passed_ && steps_ > 0 && steps_ % pace == 0) passed_ = deadline_.passed();
    ++steps_;
    return passed_;
  }

 private:
  const Deadline& deadline_;
  std::size_t steps_ = 0;
  bool passed_ = false;
};

}  // namespace emplace::search
