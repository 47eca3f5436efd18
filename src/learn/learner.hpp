// A learner turns log-probabilities, outcomes and baselines into coefficients for a policy's gradient, and steps the
// parameters. It knows no network.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/registry.hpp"
#include "emplace/base/state.hpp"
#include "emplace/policy/policy.hpp"
#include "learn/learner_workers.hpp"

namespace emplace::learn {

class Learner {
 public:
  virtual ~Learner() = default;

  // How many samples of each of its problems one update wants.
  [[nodiscard]] virtual std::size_t samples_per_update() const = 0;
  // Updates after which the learner's own schedule ends, at least 1: its length where no budget is given.
  [[nodiscard]] virtual std::uint64_t default_updates() const = 0;

  // Who computes chunks of gradients from now on; null: this process.
  virtual void use(LearnerWorkers* learner_workers) = 0;

  // A piece of the coming update() with these rollouts that needs no outcome of theirs, done while others evaluate
  // them; false: there is nothing left of that. update() does what was not done, to the same bits.
  virtual bool prepare(policy::Policy&, std::span<const policy::Rollout>) { return false; }

  // One update with evaluated rollouts: samples_per_update() samples of each of some or all of the training's problems,
  // all drawn from the policy's present parameters; sample by sample, a sample's rounds in order. What is known of a
  // problem that is not among them (its baseline) stays as it is. Returns what metrics.csv shows beside the
  // rewards ("kl", "entropy", "beta", ...): always the same keys, finite values. NotFinite if the update would leave
  // the finite numbers; the parameters may be those of a step that led there.
  virtual std::map<std::string, double> update(policy::Policy& policy, std::span<const policy::Rollout> rollouts) = 0;

  // Everything that the next update depends on beside the policy's parameters, so that a resumed run continues to the
  // same bits; the optimiser's arrays are called "optimizer/...". load() throws an InputError for a state that save()
  // cannot have written after updates of a policy like this one.
  [[nodiscard]] virtual State save() const = 0;
  virtual void load(const State& state, const policy::Policy& policy) = 0;
};

struct LearnerSetup {
  std::span<const policy::PolicyProblem> problems;  // of the training
  std::uint64_t seed = 0;                           // of the training's streams
};

struct LearnerEntry : EntryInfo {
  // The problems outlive the learner.
  std::function<std::unique_ptr<Learner>(const ConfigTable& options, const LearnerSetup& setup)> make;
  std::function<ConfigTable(const ConfigTable& options)> resolve;
};

// Every learner, in the order in which `emplace list learners` shows them.
std::span<const LearnerEntry> learners();

}  // namespace emplace::learn
