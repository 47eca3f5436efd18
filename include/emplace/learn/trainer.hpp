// The training loop: sample, evaluate, learn; one update a call, so that the caller decides on budgets and checkpoints.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/state.hpp"
#include "emplace/learn/learner.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/simulate/evaluator.hpp"

namespace emplace {

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

struct UpdateReport {
  std::uint64_t update = 0;       // counted from 1
  std::uint64_t evaluations = 0;  // in all, up to and including this update
  std::size_t samples = 0;        // evaluations of this update but for greedy ones
  double mean_seconds = 0;        // mean step time of the feasible samples; NaN if there are none
  double best_seconds = 0;        // fastest feasible sample of this update; NaN if there are none
  double feasible_share = 0;
  // Of the first problem's greedy sample before this update; NaN if none was due or it is not feasible.
  double greedy_seconds = 0;
  std::map<std::string, double> learner;  // what the learner reported
};

// Evaluations of one update: samples_per_update() of each problem, and a greedy one where that is due, each in as many
// rounds as the policy wants.
std::uint64_t evaluations_per_update(const Policy& policy, const Learner& learner, std::size_t problems, bool greedy);

class Trainer {
 public:
  // Under `priority` and `in-order` every sample's ops are ordered as roll_out() says. `greedy_every`: before every so
  // many updates, the first one included, the policy's likeliest decisions are evaluated too, and nothing is learned
  // from them (Placeto sheet, section 2.6); 0: never.
  Trainer(Policy& policy, Learner& learner, Evaluator& evaluator, std::span<const PolicyProblem> problems,
          std::uint64_t seed, Schedule schedule = Schedule::fifo, std::uint64_t greedy_every = 0);

  // One update: learner.samples_per_update() samples of each problem, in as many rounds as the policy wants. Streams
  // are keyed by (seed, sample_placement, update, sample), with updates counted from 1 and samples from 0, problem by
  // problem.
  UpdateReport step();

  [[nodiscard]] std::uint64_t updates() const { return updates_; }
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }
  [[nodiscard]] std::span<const Best> best() const { return best_; }
  // Evaluations that the next step() will make, a greedy sample's included: lets an evaluation budget end exactly.
  [[nodiscard]] std::uint64_t evaluations_per_update() const;

  // Counters and best placements; policy and learner save their own. load() checks the placements against the problems.
  [[nodiscard]] State save() const;
  void load(const State& state);

 private:
  [[nodiscard]] bool greedy_is_due() const { return greedy_every_ > 0 && updates_ % greedy_every_ == 0; }
  void roll_out(std::size_t samples, bool greedy);

  Policy& policy_;
  Learner& learner_;
  Evaluator& evaluator_;
  std::span<const PolicyProblem> problems_;
  std::uint64_t seed_;
  Schedule schedule_;
  std::uint64_t greedy_every_;
  std::uint64_t updates_ = 0;
  std::uint64_t evaluations_ = 0;
  std::vector<Best> best_;
  std::vector<Rollout> rollouts_;  // of the present update; memory is used again
};

}  // namespace emplace
