// The training loop: sample, evaluate, learn. Each call makes one update, so that the caller decides on budgets and
// checkpoints.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/state.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/policy/policy.hpp"
#include "learn/controllers.hpp"
#include "learn/learner.hpp"
#include "learn/parameter_store.hpp"

namespace emplace::learn {

// The best placement so far of one problem, by better(); of equal ones the first is kept.
struct Best {
  bool any = false;
  Placement placement;
  Outcome outcome;
  std::uint64_t evaluation = 0;  // the evaluation's number, counted from 1
};

// The best placement of a problem as Trainer::save() wrote it; the placement is not checked against the problem. Throws
// InputError for a state that save() cannot have written.
Best saved_best(const State& trainer, std::size_t problem);

// The percentiles of an update's feasible step times that UpdateReport::quantile_seconds has.
inline constexpr std::array<std::size_t, 3> reported_quantiles = {10, 50, 90};

struct UpdateReport {
  std::uint64_t update = 0;       // counted from 1
  std::uint64_t evaluations = 0;  // in all, up to and including this update
  std::size_t samples = 0;        // evaluations of this update, without greedy and held-out ones
  // Over the feasible samples of all problems, NaN if there are none; they mean little if problems differ in scale.
  double mean_seconds = 0;
  double best_seconds = 0;
  std::array<double, reported_quantiles.size()> quantile_seconds{};  // each is a sample's time
  double feasible_share = 0;
  // Step time of the first problem's greedy sample before this update; NaN if none was due or it is not feasible.
  double greedy_seconds = 0;
  // Step time of the policy's placement of each held-out problem after this update; NaN if none was due or it is not
  // feasible.
  std::vector<double> held_out_seconds;
  std::map<std::string, double> learner;  // what the learner reported
  // Of an asynchronous training: whose gradient it was, and how many updates were made since the controller's
  // parameters were read.
  std::size_t controller = 0;
  std::uint64_t staleness = 0;
};

// A problem that is never trained on, and a policy made for it alone. That policy has the same layout of parameters as
// the training's policy, and gets its parameters before it places.
struct HeldOut {
  const policy::PolicyProblem* problem;
  policy::Policy* policy;
};

struct TrainerOptions {
  std::uint64_t seed = 0;
  Schedule schedule = Schedule::fifo;
  // Before the first and then every `greedy_every`-th further update, the policy's likeliest decisions for every
  // problem are evaluated too; nothing is learned from them (docs/papers/placeto.md, section 2.6). 0: never.
  std::uint64_t greedy_every = 0;
  // K: number of the training's problems that are sampled in each update; 0: all.
  std::size_t problems_per_update = 0;
  // U: number of updates for which the drawn problems are kept (docs/papers/gdp.md, section 2.7).
  std::uint64_t hold_problems = 1;
  std::vector<HeldOut> held_out = {};
  // Held-out problems are placed after every `held_out_every`-th update.
  std::uint64_t held_out_every = 1;
  // The share of the training's budget that so many updates and evaluations use, for schedules. Null: 0.
  std::function<double(std::uint64_t updates, std::uint64_t evaluations)> budget_used = {};
  // The processes that draw and evaluate the training's samples; null: this process, with the evaluator.
  LearnerWorkers* learner_workers = nullptr;
  // The controllers of a learner with asynchronous() not null; else null. Such a training has one problem, none that is
  // held out, and no greedy samples.
  Controllers* controllers = nullptr;
  // Whether one more batch may be given to a controller if so many updates are made or under way before it, and so many
  // evaluations with it. Empty: always.
  std::function<bool(std::uint64_t updates, std::uint64_t evaluations)> may_begin = {};
};

// The positions, ascending, among `count` problems of those that are sampled in update `update` (counted from 1): K
// drawn without repetition from a stream keyed by (seed, choose_problem, first update of the draw), so that they do not
// depend on earlier updates.
std::vector<std::uint32_t> problems_of_update(std::size_t count, const TrainerOptions& options, std::uint64_t update);

// Number of evaluations of update `update`: of samples_per_update() samples of each of its problems and, where due, of
// a greedy sample of every problem and of one sample of each held-out problem, each in policy.rounds() rounds.
std::uint64_t evaluations_of_update(const policy::Policy& policy, const Learner& learner, std::size_t problems,
                                    const TrainerOptions& options, std::uint64_t update);

class Trainer {
 public:
  // The evaluator must have the problems in this order, and after them the held-out ones. With `priority` and
  // `in-order` every sample's ops are ordered as described at sample_rollouts().
  Trainer(policy::Policy& policy, Learner& learner, evaluate::Evaluator& evaluator,
          std::span<const policy::PolicyProblem> problems, const TrainerOptions& options);

  // Before the first update of a training that starts from another one's parameters: evaluates what these already
  // place, so that no result is worse than the start. `starts` has a policy for each problem, with its own units; if it
  // is empty, the training's policy places all problems. Nothing is learned from it; evaluations() counts it.
  void begin_with(std::span<const HeldOut> starts);
  // Before the first update: evaluates a placement of a problem, which is then its best placement so far.
  void begin_at(std::size_t problem, const Placement& placement);

  // Makes one update with learner.samples_per_update() samples of each of its problems; with asynchronous controllers,
  // that of the next gradient to arrive, while the other controllers go on. Streams are keyed by (seed,
  // sample_placement, update, sample), with updates counted from 1 and samples from 0, problem by problem. Held-out
  // problems are placed after it if that is due.
  UpdateReport step();

  // The present policy's placement of each held-out problem: the best of the rounds of its likeliest decisions, as in
  // `place --policy` without a budget. Best::evaluation is the number of rounds, which evaluations() does not include.
  [[nodiscard]] std::vector<Best> place_held_out();

  [[nodiscard]] std::uint64_t updates() const { return updates_; }
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }
  [[nodiscard]] std::span<const Best> best() const { return best_; }
  // Evaluations that the next step() will make, greedy and held-out ones included; with it a caller can end exactly at
  // an evaluation budget.
  [[nodiscard]] std::uint64_t evaluations_per_update() const;

  // Counters and best placements; policy and learner have their own save(). load() checks the placements against the
  // problems.
  [[nodiscard]] State save() const;
  void load(const State& state);

 private:
  [[nodiscard]] double progress() const;
  void note(const policy::Rollout& rollout, std::size_t problem);
  void place_likeliest(const HeldOut& each, std::uint32_t in_evaluator,
                       const std::function<void(const policy::Rollout&)>& evaluated);
  [[nodiscard]] SamplingRequest request_of(std::uint64_t update, std::size_t samples) const;
  void sample_rollouts(std::vector<std::uint32_t> problems, std::size_t samples, bool greedy);
  void take_next_gradient(UpdateReport& report);

  policy::Policy& policy_;
  Learner& learner_;
  evaluate::Evaluator& evaluator_;
  std::span<const policy::PolicyProblem> problems_;
  TrainerOptions options_;
  std::uint64_t updates_ = 0;
  std::uint64_t evaluations_ = 0;
  std::vector<Best> best_;
  std::optional<ParameterStore> store_;    // with asynchronous controllers
  std::vector<policy::Rollout> rollouts_;  // of the present update; memory is used again
};

}  // namespace emplace::learn
