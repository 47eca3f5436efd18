// Advantages of samples: rewards, returns of rounds, baselines and spread in one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/options.hpp"
#include "emplace/base/state.hpp"
#include "emplace/policy/policy.hpp"
#include "learn/baselines.hpp"
#include "learn/returns.hpp"
#include "learn/rewards.hpp"

namespace emplace::learn {

// Defaults are ColocRL's (docs/papers/colocrl.md, section 3).
struct AdvantageOptions {
  RewardOptions reward = {};
  std::string returns = "final";
  double discount = 1;
  std::string baseline = "moving-average";
  double baseline_decay = 0.9;
  std::string baseline_start = "failing";
  std::int64_t baseline_window = 10;
  bool normalize = false;
};
void describe(AdvantageOptions& options, OptionVisitor& visit);
// InputError, at the table's place, for options that contradict each other, and for those with which an update of
// `samples` samples of each problem, dealt to so many controllers, teaches nothing.
void check(const AdvantageOptions& options, const ConfigTable& table, int samples, int controllers = 1);

// What a batch of samples teaches.
struct AdvantageBatch {
  std::vector<std::size_t> begins;  // samples + 1, into the rollouts
  std::vector<std::size_t> used;    // samples that teach something, in order
  std::vector<double> value;        // by rollout: A = G - B; 0 in samples that are not used, and without actions
  double baseline = 0;              // mean B of all decisions of used samples

  [[nodiscard]] bool all_zero() const;
};

// A = (G - B) / spread. A sample one of whose rounds has no reward (`final`: the last) is left out of
// everything, the baselines too. Rounds
// without actions decide nothing, but their rewards are where steps of the next round begin. With `normalize` the
// spread is the deviation of the problem's returns from the batch's mean of their round; a problem whose returns are
// equal then has no advantages at all, which needs no unit. Otherwise the spread is 1.
class Advantages {
 public:
  // Of the problem's k-th sample controller k / (samples / controllers) is in charge, each with its own baselines.
  Advantages(const AdvantageOptions& options, std::span<const policy::PolicyProblem> problems,
             std::size_t controllers = 1);

  // Takes notice of a batch's times (Rewards::see); of() does so too.
  void see(std::span<const policy::Rollout> rollouts);
  // For evaluated rollouts, in update `update` (counted from 1); then moves the baselines on. NotFinite for an
  // advantage that is none.
  AdvantageBatch of(std::span<const policy::Rollout> rollouts, std::uint64_t update);
  // Baselines begin again: the distribution was replaced.
  void restart() { baselines_.restart(); }

  // The arrays of Rewards and Baselines.
  void save(State& state) const;
  void load(const State& state);

 private:
  // Rewards of the sample's rounds (`final`: of the last, 0 for others); false if one of them has none.
  bool rewards_of(std::span<const policy::Rollout> rounds, std::uint64_t update, std::vector<double>& rewards) const;

  Rewards rewards_;
  Baselines baselines_;
  ReturnForm form_;
  double discount_;
  bool starts_at_failing_, normalize_;
  std::size_t controllers_;
};

}  // namespace emplace::learn
