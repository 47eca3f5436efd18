// Baselines, with which returns of the same problem, controller and round are compared.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "emplace/base/state.hpp"

namespace emplace::learn {

enum class BaselineKind : std::uint8_t {
  none,            // 0
  moving_average,  // B; after use B <- decay x B + (1 - decay) x the batch's mean
  window,  // the mean of the last `window` batches' means, this one's included (docs/papers/placeto.md, section 2.5)
  leave_one_out,  // the mean of the batch's other returns; for a single return itself, so its advantage is 0
};

class Baselines {
 public:
  struct Key {
    std::uint32_t problem = 0, controller = 0, round = 0;
    auto operator<=>(const Key&) const = default;
  };

  Baselines(BaselineKind kind, double decay, std::size_t window) : kind_(kind), decay_(decay), window_(window) {}

  // Returns the baseline of each of a batch's returns of one key, then updates it with the batch. A moving average
  // begins at `start` or, without one, at its first batch's mean.
  std::vector<double> of(const Key& key, std::span<const double> returns, std::optional<double> start);
  // Resets moving averages and windows.
  void restart() { past_.clear(); }

  // Arrays "baseline_problem", "baseline_controller", "baseline_round", "baseline_count" and "baseline".
  void save(State& state) const;
  void load(const State& state);

 private:
  BaselineKind kind_;
  double decay_;
  std::size_t window_;
  std::map<Key, std::vector<double>> past_;  // a moving average: one value; a window: means, the oldest first
};

}  // namespace emplace::learn
