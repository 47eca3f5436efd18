// Advantages of samples, computed from rewards, returns of rounds, baselines and spread.
#pragma once

#include <cstdint>
#include <map>
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
// Throws InputError, at the table's place, for options that contradict each other, and for those with which all
// advantages would be 0 in updates of `samples` samples of each problem, divided among `controllers` controllers.
void check(const AdvantageOptions& options, const ConfigTable& table, int samples, int controllers = 1);

// The advantages of a batch of samples.
struct AdvantageBatch {
  std::vector<std::size_t> begins;  // samples + 1, into the rollouts
  std::vector<std::size_t> used;    // samples that are learned from, in order
  std::vector<double> value;        // by rollout: A; 0 in samples that are not used, and in rounds without actions
  double baseline = 0;              // mean baseline of all decisions of used samples

  [[nodiscard]] bool all_zero() const;
};

// A = (G - B) / spread, with the return G and the baseline B. A sample is excluded from everything, the baselines too,
// if one of its rounds (`final`: the last) has no reward. Rounds without actions have no advantage, but the gain of the
// next round is measured from their reward. With `normalize` the spread is the standard deviation of the problem's
// returns from the batch's mean of their round; if all returns of a problem are equal, its advantages are 0. Otherwise
// the spread is 1.
class Advantages {
 public:
  // A problem's k-th sample belongs to controller k / (samples / controllers); each controller has its own baselines.
  Advantages(const AdvantageOptions& options, std::span<const policy::PolicyProblem> problems,
             std::size_t controllers = 1);

  // Records a batch's step times (Rewards::see); of() does so too.
  void see(std::span<const policy::Rollout> rollouts);
  // Computes the advantages of evaluated rollouts in update `update` (counted from 1), then updates the baselines.
  // Throws NotFinite for an advantage that is not finite.
  AdvantageBatch of(std::span<const policy::Rollout> rollouts, std::uint64_t update);
  // Resets the baselines; for use after the policy's distribution was replaced.
  void restart() { baselines_.restart(); }

  // The arrays of Rewards and Baselines.
  void save(State& state) const;
  void load(const State& state);

 private:
  // Rewards of the sample's rounds (`final`: of the last, 0 for others); false if one of them has none.
  bool rewards_of(std::span<const policy::Rollout> rounds, std::uint64_t update, std::vector<double>& rewards) const;
  struct Returns {
    std::vector<double> value;                                 // by rollout
    std::map<Baselines::Key, std::vector<std::size_t>> cells;  // rollouts by the baseline that they are compared with
  };
  // Of the samples that can be learned from, which are added to batch.used.
  [[nodiscard]] Returns returns(std::span<const policy::Rollout> rollouts, std::uint64_t update,
                                AdvantageBatch& batch) const;

  Rewards rewards_;
  Baselines baselines_;
  ReturnForm form_;
  double discount_;
  bool starts_at_failing_, normalize_;
  std::size_t controllers_;
};

}  // namespace emplace::learn
