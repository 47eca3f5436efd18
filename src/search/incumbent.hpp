// The best placement that a search has seen, and what is left of its budget.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "deadline.hpp"
#include "emplace/search/placer.hpp"

namespace emplace {

class Incumbent {
 public:
  // Without a budget in the request the search ends after `default_evaluations`.
  Incumbent(const PlacerRequest& request, std::uint64_t default_evaluations);

  [[nodiscard]] bool exhausted() const;
  // How much of the budget is used, from 0 to 1.
  [[nodiscard]] double progress() const;
  [[nodiscard]] std::uint64_t evaluations_left() const {
    return best_.evaluations < most_evaluations_ ? most_evaluations_ - best_.evaluations : 0;
  }
  [[nodiscard]] std::optional<double> seconds_left() const {  // nothing: no such budget
    return request_.seconds ? std::optional(std::max(deadline_.left(), 1e-9)) : std::nullopt;
  }
  [[nodiscard]] const Placement& placement() const { return best_.placement; }
  [[nodiscard]] const Outcome& outcome() const { return best_.outcome; }

  // Evaluates the request's start, or lets quick placers find one: what searches begin with.
  void begin();
  // Another placer within a share of what is left; its result counts where it is better. Nothing if the budget is used
  // up.
  void try_placer(const std::string& method, double share = 1);
  // How many evaluations the search has made so far on an engine of its own.
  void searched(std::uint64_t evaluations) {
    best_.evaluations += evaluations - searched_;
    searched_ = evaluations;
  }
  // An exact outcome that has been counted.
  void offer(const Placement& placement, const Outcome& outcome);

  [[nodiscard]] PlacerResult result() const { return best_; }

 private:
  const PlacerRequest request_;
  const std::uint64_t most_evaluations_;
  Deadline deadline_;
  PlacerResult best_;
  std::uint64_t searched_ = 0;
};

}  // namespace emplace
