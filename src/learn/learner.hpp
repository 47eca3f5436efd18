// A learner turns log-probabilities, outcomes and baselines into coefficients for a policy's gradient, and steps the
// parameters. It does not depend on the policy's network.
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
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/policy/policy.hpp"
#include "learn/asynchronous_learner.hpp"
#include "learn/learner_workers.hpp"

namespace emplace::learn {

class Learner {
 public:
  virtual ~Learner() = default;

  // Number of samples of each problem in one update.
  [[nodiscard]] virtual std::size_t samples_per_update() const = 0;
  // Number of samples, with all their rounds, whose gradient is computed at a time.
  [[nodiscard]] virtual std::size_t samples_per_chunk() const { return samples_per_update(); }
  // Length in updates, at least 1, of the learner's own schedule: a training ends after it if no budget is given.
  [[nodiscard]] virtual std::uint64_t default_updates() const = 0;

  // Sets the processes that compute chunks of gradients from now on; null: this process.
  virtual void use(LearnerWorkers* learner_workers) = 0;

  // Does one part of the next update() with these rollouts, a part that needs no outcomes, while other processes
  // evaluate them. Returns false if no such part is left. update() does the parts that were not done, with the same
  // bits.
  virtual bool prepare(policy::Policy&, std::span<const policy::Rollout>) { return false; }

  // One update with evaluated rollouts: samples_per_update() samples of each of some or all of the training's problems,
  // all drawn from the policy's present parameters; sample by sample, a sample's rounds in order. The state of other
  // problems (their baselines) does not change. Returns the columns of metrics.csv besides the rewards ("kl",
  // "entropy", "beta", ...): always those of LearnerEntry::columns, with finite values. Throws NotFinite if a value of
  // the update is not finite; the parameters may then have changed already.
  virtual std::map<std::string, double> update(policy::Policy& policy, std::span<const policy::Rollout> rollouts) = 0;

  // Whether update() learns from samples that the policy did not draw, if it gets some.
  [[nodiscard]] virtual bool can_be_taught() const { return false; }
  // Good samples of any of the training's problems for the next update(), with decisions that the policy could have
  // drawn, and their outcomes: improved ones and demonstrations. Policy gradients treat them as keep_best does the best
  // sample so far; refits take them for candidates.
  virtual void teach(std::span<const policy::Rollout>) {}

  // This learner's halves of an update, if its options ask for asynchronous controllers; else null. update() is then
  // not called.
  [[nodiscard]] virtual AsynchronousLearner* asynchronous() { return nullptr; }

  // Everything besides the policy's parameters that the next update depends on, so that a resumed run continues with
  // the same bits; the optimiser's arrays are called "optimizer/...". load() throws an InputError for a state that
  // save() cannot have written after updates of a policy like this one.
  [[nodiscard]] virtual State save() const = 0;
  virtual void load(const State& state, const policy::Policy& policy) = 0;
};

struct LearnerSetup {
  std::span<const policy::PolicyProblem> problems;  // of the training
  std::uint64_t seed = 0;                           // of the training's streams
  evaluate::Scoring scoring = {};                   // the training's schedule and objective
};

struct LearnerEntry : EntryInfo {
  std::vector<std::string> columns;  // the keys of Learner::update(), by name; a checkpoint with another one is refused
  // The problems must outlive the learner.
  std::function<std::unique_ptr<Learner>(const ConfigTable& options, const LearnerSetup& setup)> make;
  std::function<ConfigTable(const ConfigTable& options)> resolve;
};

// Every learner, in the order in which `emplace list learners` shows them.
std::span<const LearnerEntry> learners();

}  // namespace emplace::learn
