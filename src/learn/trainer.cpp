#include "emplace/learn/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "emplace/base/error.hpp"
#include "emplace/problem/order.hpp"

namespace emplace {

Trainer::Trainer(Policy& policy, Learner& learner, Evaluator& evaluator, std::span<const PolicyProblem> problems,
                 std::uint64_t seed, Schedule schedule)
    : policy_(policy),
      learner_(learner),
      evaluator_(evaluator),
      problems_(problems),
      seed_(seed),
      schedule_(schedule),
      best_(problems.size()) {
  EMPLACE_CHECK(!problems.empty());
}

std::uint64_t Trainer::evaluations_per_update() const {
  std::uint64_t rounds = 0;
  for (std::uint32_t p = 0; p < problems_.size(); ++p) rounds += policy_.rounds(p);
  return rounds * learner_.samples_per_update();
}

void Trainer::offer(std::uint32_t problem, const Placement& placement, const Outcome& outcome) {
  Best& best = best_.at(problem);
  if (best.any && !better(outcome, best.outcome)) return;
  best = {true, placement, outcome, evaluations_};
}

void Trainer::sample_and_evaluate() {
  const std::size_t per_problem = learner_.samples_per_update();
  std::vector<Stream> streams;
  std::size_t most_rounds = 0;
  begin_.assign(1, 0);
  for (std::uint32_t p = 0; p < problems_.size(); ++p) {
    most_rounds = std::max(most_rounds, policy_.rounds(p));
    for (std::size_t k = 0; k < per_problem; ++k) {
      const auto sample = static_cast<std::uint32_t>(streams.size());
      streams.emplace_back(
          StreamKey{.seed = seed_, .purpose = Purpose::sample_placement, .update = updates_ + 1, .index = sample});
      begin_.push_back(begin_.back() + policy_.rounds(p));
      rollouts_.resize(std::max(rollouts_.size(), begin_.back()));
      for (std::size_t r = 0; r < policy_.rounds(p); ++r) {
        Rollout& rollout = rollouts_[begin_[sample] + r];
        rollout.update = updates_ + 1;
        rollout.problem = p;
        rollout.sample = sample;
        rollout.round = static_cast<std::uint32_t>(r);
      }
    }
  }
  rollouts_.resize(begin_.back());

  std::vector<Draw> draws;
  std::vector<EvaluationJob> jobs;
  for (std::size_t round = 0; round < most_rounds; ++round) {
    draws.clear();
    jobs.clear();
    for (std::size_t s = 0; s < streams.size(); ++s)
      if (begin_[s] + round < begin_[s + 1])
        draws.push_back({&streams[s], std::span(rollouts_).subspan(begin_[s], round + 1)});
    policy_.sample(draws);
    for (const Draw& draw : draws) {
      Rollout& rollout = draw.rounds.back();
      if (schedule_ == Schedule::fifo)
        rollout.placement.order.clear();
      else if (rollout.placement.order.empty())
        rollout.placement.order = upward_rank_order(*problems_[rollout.problem].problem, rollout.placement.device);
      jobs.push_back({rollout.problem, &rollout.placement});
    }
    const std::vector<Outcome> outcomes = evaluator_.evaluate(jobs);
    EMPLACE_CHECK(outcomes.size() == jobs.size());
    for (std::size_t i = 0; i < draws.size(); ++i) {
      Rollout& rollout = draws[i].rounds.back();
      rollout.outcome = outcomes[i];
      ++evaluations_;
      offer(rollout.problem, rollout.placement, rollout.outcome);
    }
  }
}

UpdateReport Trainer::step() {
  sample_and_evaluate();
  UpdateReport report;
  report.learner = learner_.update(policy_, rollouts_);
  ++updates_;
  report.update = updates_;
  report.evaluations = evaluations_;
  report.samples = rollouts_.size();

  std::size_t feasible = 0;
  double sum = 0;
  double best = std::numeric_limits<double>::infinity();
  for (const Rollout& rollout : rollouts_) {
    if (!rollout.outcome.feasible()) continue;
    ++feasible;
    sum += to_seconds(rollout.outcome.makespan);
    best = std::min(best, to_seconds(rollout.outcome.makespan));
  }
  report.feasible_share = static_cast<double>(feasible) / static_cast<double>(rollouts_.size());
  report.mean_seconds = feasible > 0 ? sum / static_cast<double>(feasible) : std::nan("");
  report.best_seconds = feasible > 0 ? best : std::nan("");
  return report;
}

// ---- State
// -----------------------------------------------------------------------------------------------------------

State Trainer::save() const {
  State state;
  put_scalar(state, "updates", updates_);
  put_scalar(state, "evaluations", evaluations_);
  for (std::size_t p = 0; p < best_.size(); ++p) {
    const Best& best = best_[p];
    if (!best.any) continue;
    const std::string at = fmt::format("best.{}.", p);
    put(state, at + "device", best.placement.device);
    if (!best.placement.order.empty())
      put(state, at + "order", std::vector<std::int64_t>(best.placement.order.begin(), best.placement.order.end()));
    put(state, at + "outcome",
        std::vector<std::int64_t>{best.outcome.makespan, best.outcome.overflow,
                                  static_cast<std::int64_t>(best.outcome.why), best.outcome.device,
                                  best.outcome.subject});
    put_scalar(state, at + "evaluation", best.evaluation);
  }
  return state;
}

void Trainer::load(const State& state) {
  updates_ = get_scalar<std::uint64_t>(state, "updates");
  evaluations_ = get_scalar<std::uint64_t>(state, "evaluations");
  for (std::size_t p = 0; p < best_.size(); ++p) {
    Best& best = best_[p];
    best = {};
    const std::string at = fmt::format("best.{}.", p);
    if (!state.contains(at + "device")) continue;
    best.any = true;
    best.placement.device = get<std::uint8_t>(state, at + "device");
    if (state.contains(at + "order"))
      for (const std::int64_t op : get<std::int64_t>(state, at + "order")) {
        if (op < 0 || op >= static_cast<std::int64_t>(problems_[p].problem->op_count()))
          throw InputError("checkpoint", "array {}order names op {}", at, op);
        best.placement.order.push_back(static_cast<std::uint32_t>(op));
      }
    check_placement(*problems_[p].problem, best.placement, "checkpoint");
    const auto& outcome = get<std::int64_t>(state, at + "outcome", 5);
    if (outcome[2] < 0 || outcome[2] > static_cast<std::int64_t>(Infeasible::memory))
      throw InputError("checkpoint", "array {}outcome has the unknown reason {}", at, outcome[2]);
    best.outcome = {outcome[0], outcome[1], static_cast<Infeasible>(outcome[2]), static_cast<std::uint8_t>(outcome[3]),
                    static_cast<std::uint32_t>(outcome[4])};
    best.evaluation = get_scalar<std::uint64_t>(state, at + "evaluation");
  }
}

}  // namespace emplace
