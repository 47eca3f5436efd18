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

// Keeps feasible samples with all their rounds. The `quota` samples of each problem whose last round is fastest are the
// elites; a problem with fewer samples than a full window has fewer elites. Samples that can no longer become elites
// are dropped, and so are placements, which a fit does not need.
class EliteWindow {
 public:
  // The quota is for `samples` samples of a problem. If fewer were added since the last clear(), infeasible ones
  // included, the same share of them (rounded up) are elites. 0: the quota is the same for any number.
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
  // The number of elites. Valid after keep_elites(); before, other samples count too.
  [[nodiscard]] std::size_t samples() const;
  // Mean over problems of gamma in seconds, 0 without elites. Valid after keep_elites().
  [[nodiscard]] double gamma_seconds() const;

  // Saves the samples that may still become elites, in arrays "window_key", "window_size", "window_time",
  // "window_actions", "window_observations", "window_added".
  void save(State& state) const;
  // Throws InputError for samples that a window of this policy and this number of problems cannot contain.
  void load(const State& state, const policy::Policy& policy, std::size_t problems);

 private:
  // A list of rounds, stored in a few arrays: an update may add tens of thousands, and few of them are read again.
  struct Rounds {
    static constexpr std::size_t per_round = 5;
    std::vector<std::uint64_t> keys;   // 5 for each round: update, problem, sample, round, bits of the progress
    std::vector<std::uint64_t> sizes;  // 2 for each round: of actions, of the observation
    std::vector<std::int64_t> times;   // of the sample, ticks
    std::vector<std::uint8_t> actions;
    std::vector<float> observations;

    [[nodiscard]] std::size_t count() const { return times.size(); }
    [[nodiscard]] std::uint32_t problem(std::size_t i) const {
      return static_cast<std::uint32_t>(keys[per_round * i + 1]);
    }
    [[nodiscard]] bool begins_sample(std::size_t i) const { return keys[per_round * i + 3] == 0; }
    void add(const policy::Rollout& round, Ticks time);
    // The rounds that are not slower than their problem's gamma, and all rounds of a problem without one.
    [[nodiscard]] Rounds up_to(const std::map<std::uint32_t, Ticks>& gamma) const;
    [[nodiscard]] std::vector<policy::Rollout> rollouts() const;
  };

  // InputError unless window_key has rounds of samples that follow each other.
  void check_keys(std::size_t problems) const;
  void load_added(const std::vector<std::uint64_t>& added, std::size_t problems);

  [[nodiscard]] std::size_t quota_of(std::uint32_t problem) const;
  // For each problem the quota(problem)-th smallest step time; no entry for a problem with fewer samples.
  template <class Quota>
  [[nodiscard]] std::map<std::uint32_t, Ticks> gammas(const Quota& quota) const;
  // For each problem the slowest time that may still be an elite's: with more samples the quota-th smallest time can
  // only decrease. No entry for a problem with fewer samples than the quota, of which all may be elites.
  [[nodiscard]] std::map<std::uint32_t, Ticks> slowest_candidates() const;

  std::size_t quota_, samples_;
  std::map<std::uint32_t, std::uint64_t> added_;  // samples by problem, infeasible ones too
  Rounds seen_;
  std::size_t room_ = 0;                  // if seen_ has more rounds, candidates are selected again
  std::map<std::uint32_t, Ticks> limit_;  // by problem, since then: slower samples cannot be elites
  std::vector<policy::Rollout> elites_;
};

}  // namespace emplace::learn
