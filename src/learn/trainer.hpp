// The training loop: sample, evaluate, learn. Each call makes one update, so that the caller decides on budgets and
// checkpoints.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
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
#include "learn/lessons.hpp"
#include "learn/parameter_store.hpp"
#include "learn/polish_options.hpp"
#include "search/local/polish.hpp"

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

// What polishing did in an update.
struct PolishReport {
  std::size_t samples = 0;        // placements that were polished
  std::uint64_t evaluations = 0;  // moves
  // By which share of their step times those became shorter in the mean; NaN if none was feasible at first.
  double gain = 0;
  double seconds = 0;  // of the clock
};

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
  PolishReport polish;
  std::size_t taught = 0;                 // samples that the policy did not draw
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
  PolishOptions polish = {};
  // What polishes placements of the training's problems; null: nothing is polished.
  search::PolishPool* polish_pool = nullptr;
  // The learner is taught the placements that a training begins at, one of each problem in an update, in turn, for this
  // share of the budget: all at first, then fewer and fewer, the best ones. 0: never.
  double demonstrations_share = 0;
  // The controllers of a learner with asynchronous() not null; else null. Such a training has one problem, none that is
  // held out, and no greedy samples.
  Controllers* controllers = nullptr;
  // Whether the budget allows one more batch if so many updates are made or under way before it, and so many
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
  // is empty, the training's policy places all problems. Each also draws so many placements. Nothing is learned from it
  // by itself; evaluations() counts it.
  void begin_with(std::span<const HeldOut> starts, std::size_t draws = 0);
  // Before the first update: evaluates a placement of a problem, which belongs to its placements so far.
  void begin_at(std::size_t problem, const Placement& placement);
  // The same with a known outcome, which took so many evaluations to find.
  void begin_at(std::size_t problem, const Placement& placement, const Outcome& outcome, std::uint64_t evaluations);
  // After all placements to begin at, before the first update: polishes the best of each problem, and keeps the best as
  // demonstrations, on the units of the training.
  void end_of_beginning();

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

  // Counters, best placements and demonstrations; policy and learner have their own save(). load() checks the
  // placements against the problems.
  [[nodiscard]] State save() const;
  void load(const State& state);

 private:
  // The update: what is due before it, the samples, the policy's step, and the held-out placements.
  void learn(std::uint64_t update, UpdateReport& report);
  [[nodiscard]] double progress() const;
  // Whether the training's budget has so many more evaluations.
  [[nodiscard]] bool may_spend(std::uint64_t evaluations) const;
  void note(const policy::Rollout& rollout, std::size_t problem);
  void note(const Placement& placement, const Outcome& outcome, std::size_t problem);
  // A placement that may be polished.
  struct Candidate {
    std::span<const policy::Rollout> sample;  // that can be changed to express it; empty: none
    const Placement* placement;
    Outcome outcome;
    std::uint32_t problem, index;  // the index keys the job's stream
  };
  // The best distinct ones of each problem, at most polish.samples: of the samples and the best so far.
  [[nodiscard]] bool is_turn_of_best(std::uint64_t update) const;
  [[nodiscard]] std::vector<Candidate> best_of(std::span<const policy::Rollout> rollouts) const;
  std::vector<search::PolishResult> polish(std::span<const Candidate> candidates, PolishReport& report);
  void polish_starts();
  void keep_demonstrations(std::size_t problem);
  // Polishes the best of the batch if that is due; appends what can be learned from to `lessons`, whose placements are
  // in `kept`.
  void polish_batch(std::uint64_t drawn, std::deque<search::Polished>& kept, std::vector<Lesson>& lessons,
                    PolishReport& report);
  void add_demonstrations(std::vector<Lesson>& lessons) const;
  // Polishes, and teaches the learner; between sampling and learning.
  void teach(std::uint64_t drawn, UpdateReport& report);
  // With `draws` placements that are drawn; 0: the likeliest one.
  void place_unlearned(const HeldOut& each, std::uint32_t in_evaluator, std::size_t draws,
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
  std::vector<std::vector<Best>> starts_;          // by problem, before the first update
  std::vector<std::vector<Best>> demonstrations_;  // by problem, the best first
  double credit_ = 0;                              // evaluations that polishing may make
  std::optional<ParameterStore> store_;            // with asynchronous controllers
  std::vector<policy::Rollout> rollouts_;          // of the present update; memory is used again
};

}  // namespace emplace::learn
