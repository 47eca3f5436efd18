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

namespace emplace::learn {

// ceil(fraction * samples), at least 1.
std::size_t elite_count(double fraction, std::size_t samples);

// Feasible samples, with all their rounds and judged by the last one, of which the `quota` fastest of each problem are
// the elites; fewer of a problem that had less than its share of the window. What can be no elite any more, and what a
// fit does not need (placements), is not kept.
class EliteWindow {
 public:
  // The quota is of `samples` samples of a problem: of fewer since the last clear(), infeasible ones counted, the same
  // share (rounded up) are elites. 0: the quota is the same for any number.
  explicit EliteWindow(std::size_t quota, std::size_t samples = 0) : quota_(quota), samples_(samples) {}

  // Adds the feasible ones among the samples.
  void add(std::span<const policy::Rollout> rollouts);
  // Drops everything but the elites: for each problem gamma = its quota-th smallest step time, elites = all at or below
  // gamma (ties included, so the order of equal times never matters); all feasible ones if they are fewer than the
  // quota.
  void keep_elites();
  void clear();

  // The elites of the last keep_elites(), sample by sample, a sample's rounds in order; each with its sample's time.
  [[nodiscard]] std::span<const policy::Rollout> elites() const { return elites_; }
  // How many the elites are; after keep_elites(), as before it depends on when the window was last gone through.
  [[nodiscard]] std::size_t samples() const;
  // Mean over problems of gamma in seconds, 0 without any; after keep_elites().
  [[nodiscard]] double gamma_seconds() const;

  // What may still be elites, in arrays "window_key", "window_size", "window_time", "window_actions",
  // "window_observations", "window_added".
  void save(State& state) const;
  // InputError for samples that a window of this policy and of so many problems cannot have.
  void load(const State& state, const policy::Policy& policy, std::size_t problems);

 private:
  // Rounds one after the other, each in a few arrays' next places: tens of thousands are added an update, and few of
  // them are looked at again.
  struct Rounds {
    std::vector<std::uint64_t> keys;   // 4 a round: update, problem, sample, round
    std::vector<std::uint64_t> sizes;  // 2 a round: of actions, of the observation
    std::vector<std::int64_t> times;   // of the sample, ticks
    std::vector<std::uint8_t> actions;
    std::vector<float> observations;

    [[nodiscard]] std::size_t count() const { return times.size(); }
    [[nodiscard]] std::uint32_t problem(std::size_t i) const { return static_cast<std::uint32_t>(keys[4 * i + 1]); }
    [[nodiscard]] bool begins_sample(std::size_t i) const { return keys[4 * i + 3] == 0; }
    void add(const policy::Rollout& round, Ticks time);
    // Of each problem those that are no slower; all of one that has no gamma.
    [[nodiscard]] Rounds up_to(const std::map<std::uint32_t, Ticks>& gamma) const;
    [[nodiscard]] std::vector<policy::Rollout> rollouts() const;
  };

  [[nodiscard]] std::size_t quota_of(std::uint32_t problem) const;
  // Of each problem, the quota(problem)-th smallest step time; none of one with fewer samples.
  template <class Quota>
  [[nodiscard]] std::map<std::uint32_t, Ticks> gammas(const Quota& quota) const;
  // Of each problem, the slowest that may still be an elite: of more samples, the quota-th smallest is no slower. None
  // of one with fewer samples than the quota: all may be.
  [[nodiscard]] std::map<std::uint32_t, Ticks> slowest_candidates() const;

  std::size_t quota_, samples_;
  std::map<std::uint32_t, std::uint64_t> added_;  // samples by problem, infeasible ones too
  Rounds seen_;
  std::size_t room_ = 0;                  // rounds in seen_, before it is gone through for those that can be no elites
  std::map<std::uint32_t, Ticks> limit_;  // by problem, since then: what is slower can be none
  std::vector<policy::Rollout> elites_;
};

}  // namespace emplace::learn
