// Rewards of placements: computed from the step time, or from a substitute for it if the placement is infeasible.
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

namespace emplace::learn {

// Step time of the best single device, memory ignored: the smallest sum of the ops' times over the devices that can run
// every op. If there is no such device, the sum of each op's fastest time.
Ticks single_device_time(const Problem& problem);

// Defaults are ColocRL's (docs/papers/colocrl.md, section 3).
struct RewardOptions {
  std::string reward = "sqrt";
  double time_unit = 1;
  std::string infeasible = "fixed";
  double t_fail = 0;
  double fail_factor = 10;
  double penalty_per_gb = 2;
  double penalty_cap = 10;
  static constexpr std::int64_t never = 1'000'000'000;  // of skip_failing_after
  std::int64_t skip_failing_after = 5000;
};
void describe(RewardOptions& options, OptionVisitor& visit);
// Throws InputError, at the table's place, for options that contradict each other.
void check(const RewardOptions& options, const ConfigTable& table);

// With t the step time in time units (seconds, or the problem's single-device time):
//   R(t) = -sqrt(t), -t, -log t, -log(1 + t) or 1/t
// Infeasible placements:
//   fixed    R(t_fail), t_fail = fail_factor x the single-device time unless given; with the reward sqrt in units of
//            the single-device time a fail_factor of 100 is a reward of -10 (docs/papers/gdp.md, section 2.6)
//   penalty  where only memory is short: max(R(t) - penalty_per_gb x overflow / 1e9, -penalty_cap), the cap for every
//            placement (docs/papers/placeto.md, section 2.4); R(t_fail), not below the cap, for other reasons. The
//            overflow is the sum of what is missing over devices, where Placeto takes the largest: the same with one
//            full device.
//   slowest  R(2 x the slowest feasible time so far), none before the first feasible one (docs/papers/post.md,
//            section 2.4)
//   zero     0
// After `skip_failing_after` updates infeasible placements have no reward in any form.
class Rewards {
 public:
  Rewards(RewardOptions options, std::span<const policy::PolicyProblem> problems);

  // Records the batch's feasible times (for "slowest"); must be called before of().
  void see(std::span<const policy::Rollout> rollouts);
  // The reward of an evaluated rollout in update `update`, counted from 1. Empty: its sample is excluded from learning.
  [[nodiscard]] std::optional<double> of(const policy::Rollout& rollout, std::uint64_t update) const;
  // R(t_fail) of the problem, not below minus the cap if there is one.
  [[nodiscard]] double failing(std::uint32_t problem) const;

  // Arrays "slowest_problem", "slowest_time".
  void save(State& state) const;
  void load(const State& state);

 private:
  [[nodiscard]] double of_seconds(std::uint32_t problem, double seconds) const;
  [[nodiscard]] double single_device_seconds(std::uint32_t problem) const;
  [[nodiscard]] double capped(double reward) const;

  RewardOptions options_;
  double (*reward_of_)(double t);
  double cap_;                              // no reward is below minus this
  std::vector<double> single_device_s_;     // by problem
  std::map<std::uint32_t, Ticks> slowest_;  // by problem
};

}  // namespace emplace::learn
