// The policy of a trial, made for the trial's problems: what the conformance tests of policies share.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "tests/policy/conformance_trials.hpp"

namespace emplace::policy::conformance {

using namespace test;

inline std::vector<PolicyProblem> with_units(const std::vector<Problem>& problems) {
  std::vector<PolicyProblem> list;
  for (const Problem& problem : problems) list.push_back({&problem, make_grouping(problem, GroupingKind::colocation)});
  return list;
}

inline std::unique_ptr<Policy> made(const Trial& trial, std::span<const PolicyProblem> list, std::uint64_t seed = 3) {
  return make_policy(trial.policy, ConfigTable::parse_toml(trial.options, trial.name), list, seed);
}

// The numbers of the trials whose policy satisfies `condition`.
inline std::vector<std::size_t> trials_where(bool (*condition)(const Policy& policy)) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < std::size(trials); ++i) {
    const std::vector<Problem> problems = trials[i].problems();
    if (condition(*made(trials[i], with_units(problems)))) found.push_back(i);
  }
  return found;
}

inline std::string name_of_trial(const ::testing::TestParamInfo<std::size_t>& trial) {
  return trials[trial.param].name;
}

class PolicyOnTrial : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    problems_ = trial().problems();
    list_ = with_units(problems_);
    policy_ = fresh();
  }

  [[nodiscard]] const Trial& trial() const { return trials[GetParam()]; }
  [[nodiscard]] const PolicyEntry& entry() const { return find_entry(policies(), trial().policy, "policy"); }
  [[nodiscard]] std::unique_ptr<Policy> fresh(std::uint64_t seed = 3) const { return made(trial(), list_, seed); }

  // Moves every finite parameter a little: the start may be special (uniform, symmetric).
  void perturb() { perturb(trial().move); }
  void perturb(double size) {
    Stream random{{.seed = 99}};
    for (float& parameter : policy_->parameters())
      if (std::isfinite(parameter)) parameter += static_cast<float>(size * (2 * random.uniform() - 1));
  }

  // Replaces a simulator, of whose results policies read only start times: sets some that depend on the placement.
  void leave_starts(Rollout& rollout) const {
    if (!policy_->reads_start_times()) return;
    rollout.starts.clear();
    Ticks now = 0;
    for (const std::uint8_t device : rollout.placement.device) {
      rollout.starts.push_back(now);
      now += (1 + device) * ms;
    }
  }
  static Stream stream_of(std::uint64_t update, std::uint32_t sample) {
    return Stream({.seed = 5, .purpose = Purpose::sample_placement, .update = update, .index = sample});
  }

  // `count` samples of each problem, complete up to the last round (outcomes stay empty).
  [[nodiscard]] std::vector<Rollout> rollouts(std::size_t count, std::uint64_t update = 1) const {
    std::vector<Rollout> all;
    std::uint32_t sample = 0;
    for (std::uint32_t p = 0; p < list_.size(); ++p)
      for (std::size_t k = 0; k < count; ++k, ++sample) {
        Stream stream = stream_of(update, sample);
        std::vector<Rollout> rounds(policy_->rounds(p));
        for (std::uint32_t r = 0; r < rounds.size(); ++r) {
          rounds[r].update = update;
          rounds[r].problem = p;
          rounds[r].sample = sample;
          rounds[r].round = r;
          const SampleSlot slot{&stream, std::span(rounds).first(r + 1)};
          policy_->sample({&slot, 1});
          leave_starts(rounds[r]);
        }
        all.insert(all.end(), rounds.begin(), rounds.end());
      }
    return all;
  }

  std::vector<Problem> problems_;
  std::vector<PolicyProblem> list_;
  std::unique_ptr<Policy> policy_;
};

}  // namespace emplace::policy::conformance
