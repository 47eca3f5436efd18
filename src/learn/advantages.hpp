// Advantages of samples: how much faster than a running mean, in units of the batch's spread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "emplace/base/state.hpp"
#include "emplace/policy/policy.hpp"

namespace emplace {

enum class CostForm : std::uint8_t { time, square_root };

// One baseline a problem (Post sheet, section 2.4):
//   T_n <- infeasible samples get cap = 2 x the slowest feasible time so far
//   A_n = (b - T_n) / std(T over the batch),  b = the first batch's mean, later b <- 0.9 b + 0.1 mean(T) after use
// The sheet adds 1e-8 to the deviation; here a batch of equal times has no advantages at all, which needs no unit.
class BaselineAdvantages {
 public:
  explicit BaselineAdvantages(CostForm form) : form_(form) {}

  // One advantage a rollout, divided by the number of the problem's rollouts in the batch; 0 for all of a problem whose
  // times are equal or that never had a feasible sample.
  std::vector<double> of(std::span<const Rollout> rollouts);
  // The next batch's mean becomes the baseline: the distribution was replaced.
  void restart();

  // Arrays "baseline_problem", "baseline", "baseline_restarts", "slowest_time".
  void save(State& state) const;
  void load(const State& state);

 private:
  struct PerProblem {
    double baseline = 0;
    bool restart = true;
    Ticks slowest = 0;  // 0: nothing feasible yet
  };
  CostForm form_;
  std::map<std::uint32_t, PerProblem> problems_;
};

}  // namespace emplace
