// The training loop: sample, evaluate, learn; one update a call, so that the caller decides on budgets and checkpoints.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/state.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/policy/policy.hpp"
#include "learn/learner.hpp"

namespace emplace::learn {

// The best placement met so far for one problem, by better(); the first of equals stays.
struct Best {
  bool any = false;
  Placement placement;
  Outcome outcome;
  std::uint64_t evaluation = 0;  // its number, counted from 1
};

// What Trainer::save() wrote of a problem, with a placement that nobody compared with the problem. InputError for what
// save() cannot have written.
Best saved_best(const State& trainer, std::size_t problem);

// The shares of an update's feasible samples, in per cent, that are as quick as UpdateReport::quantile_seconds or
// quicker.
inline constexpr std::array<std::size_t, 3> reported_quantiles = {10, 50, 90};

struct UpdateReport {
  std::uint64_t update = 0;       // counted from 1
  std::uint64_t evaluations = 0;  // in all, up to and including this update
  std::size_t samples = 0;        // evaluations of this update but for greedy and held-out ones
  // Over the feasible samples of all problems, NaN if there are none: of little meaning where problems differ in scale.
  double mean_seconds = 0;
  double best_seconds = 0;
  std::array<double, reported_quantiles.size()> quantile_seconds{};  // by rank: each is that of a sample
  double feasible_share = 0;
  // Of the first problem's greedy sample before this update; NaN if none was due or it is not feasible.
  double greedy_seconds = 0;
  // Of what the policy makes of each held-out problem after this update; NaN if it was not due or is not feasible.
  std::vector<double> held_out_seconds;
  std::map<std::string, double> learner;  // what the learner reported
};

// A problem that is never trained on, and a policy made for it alone with as many parameters, in the same order, as the
// training's has: it gets those of the training before it places.
struct HeldOut {
  const policy::PolicyProblem* problem;
  policy::Policy* policy;
};

struct TrainerOptions {
  std::uint64_t seed = 0;
  Schedule schedule = Schedule::fifo;
  // Before every so many updates, the first one included, the policy's likeliest decisions for every problem are
  // evaluated too, and nothing is learned from them (docs/papers/placeto.md, section 2.6); 0: never.
  std::uint64_t greedy_every = 0;
  // K: each update is about so many of the training's problems; 0: all.
  std::size_t problems_per_update = 0;
  // U: updates that a draw of them lasts (docs/papers/gdp.md, section 2.7).
  std::uint64_t hold_problems = 1;
  std::vector<HeldOut> held_out = {};
  // They are placed after every so many updates.
  std::uint64_t held_out_every = 1;
  // Who draws and evaluates the training's samples; null: this process, on the evaluator.
  LearnerWorkers* learner_workers = nullptr;
};

// The positions, ascending, of the `count` problems that update `update` (counted from 1) is about: K drawn without
// repetition from a stream keyed by (seed, choose_problem, first update of the draw), so that it depends on nothing
// that happened before.
std::vector<std::uint32_t> problems_of_update(std::size_t count, const TrainerOptions& options, std::uint64_t update);

// Evaluations of update `update`: samples_per_update() of each of its problems, and where they are due a greedy one of
// every problem and one of each held-out problem, each in as many rounds as the policy wants.
std::uint64_t evaluations_of_update(const policy::Policy& policy, const Learner& learner, std::size_t problems,
                                    const TrainerOptions& options, std::uint64_t update);

class Trainer {
 public:
  // The evaluator knows the problems in this order, and after them the held-out ones. Under `priority` and `in-order`
  // every sample's ops are ordered as sample_rollouts() says.
  Trainer(policy::Policy& policy, Learner& learner, evaluate::Evaluator& evaluator,
          std::span<const policy::PolicyProblem> problems, const TrainerOptions& options);

  // One update: learner.samples_per_update() samples of each of its problems, in as many rounds as the policy wants.
  // Streams are keyed by (seed, sample_placement, update, sample), with updates counted from 1 and samples from 0,
  // problem by problem. Held-out problems are placed after it where that is due.
  UpdateReport step();

  // What the policy makes now of each held-out problem: the best of the rounds of its likeliest decisions, as `place
  // --policy` without a budget. Best::evaluation counts the problem's rounds; evaluations() does not.
  [[nodiscard]] std::vector<Best> place_held_out();

  [[nodiscard]] std::uint64_t updates() const { return updates_; }
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }
  [[nodiscard]] std::span<const Best> best() const { return best_; }
  // Evaluations that the next step() will make, greedy and held-out ones included: lets an evaluation budget end
  // exactly.
  [[nodiscard]] std::uint64_t evaluations_per_update() const;

  // Counters and best placements; policy and learner save their own. load() checks the placements against the problems.
  [[nodiscard]] State save() const;
  void load(const State& state);

 private:
  void sample_rollouts(std::vector<std::uint32_t> problems, std::size_t samples, bool greedy);

  policy::Policy& policy_;
  Learner& learner_;
  evaluate::Evaluator& evaluator_;
  std::span<const policy::PolicyProblem> problems_;
  TrainerOptions options_;
  std::uint64_t updates_ = 0;
  std::uint64_t evaluations_ = 0;
  std::vector<Best> best_;
  std::vector<policy::Rollout> rollouts_;  // of the present update; memory is used again
};

}  // namespace emplace::learn
