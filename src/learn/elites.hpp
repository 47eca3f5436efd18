// The elites of the cross-entropy method: the best feasible samples of a window (Gao et al. 2018, algorithm 1); and the
// best sample so far of each problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "emplace/base/state.hpp"
#include "emplace/policy/policy.hpp"

namespace emplace {

// ceil(fraction * samples), at least 1.
std::size_t elite_count(double fraction, std::size_t samples);

// Feasible samples, with all their rounds and judged by the last one, of which the `quota` fastest of each problem are
// the elites; fewer of a problem that had less than its share of the window. What a fit does not need (placements) is
// not kept.
class EliteWindow {
 public:
  // The quota is of `samples` samples of a problem: of fewer since the last clear(), infeasible ones counted, the same
  // share (rounded up) are elites. 0: the quota is the same for any number.
  explicit EliteWindow(std::size_t quota, std::size_t samples = 0) : quota_(quota), samples_(samples) {}

  // Adds the feasible ones among the samples.
  void add(std::span<const Rollout> rollouts);
  // Drops everything but the elites: for each problem gamma = its quota-th smallest step time, elites = all at or below
  // gamma (ties included, so the order of equal times never matters); all feasible ones if they are fewer than the
  // quota.
  void keep_elites();
  void clear();

  // Sample by sample, a sample's rounds in order; each with its sample's time.
  [[nodiscard]] std::span<const Rollout> rollouts() const { return seen_; }
  [[nodiscard]] std::size_t samples() const;
  // Mean over problems of gamma in seconds, 0 without any; after keep_elites().
  [[nodiscard]] double gamma_seconds() const;

  // Arrays "window_key", "window_size", "window_time", "window_actions", "window_observations", "window_added".
  void save(State& state) const;
  // InputError for samples that a window of this policy and of so many problems cannot have.
  void load(const State& state, const Policy& policy, std::size_t problems);

 private:
  [[nodiscard]] std::size_t quota_of(std::uint32_t problem) const;

  std::size_t quota_, samples_;
  std::map<std::uint32_t, std::uint64_t> added_;  // samples by problem, infeasible ones too
  std::vector<Rollout> seen_;
};

}  // namespace emplace
