#include "emplace/learn/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "emplace/base/error.hpp"
#include "emplace/base/not_finite.hpp"
#include "emplace/learn/roll_out.hpp"

namespace emplace {

namespace {
constexpr std::uint64_t most_updates = std::uint64_t{1} << 53;
}  // namespace

Trainer::Trainer(Policy& policy, Learner& learner, Evaluator& evaluator, std::span<const PolicyProblem> problems,
                 std::uint64_t seed, Schedule schedule, std::uint64_t greedy_every)
    : policy_(policy),
      learner_(learner),
      evaluator_(evaluator),
      problems_(problems),
      seed_(seed),
      schedule_(schedule),
      greedy_every_(greedy_every),
      best_(problems.size()) {
  EMPLACE_CHECK(!problems.empty());
}

std::uint64_t evaluations_per_update(const Policy& policy, const Learner& learner, std::size_t problems, bool greedy) {
  std::uint64_t rounds = 0;
  for (std::uint32_t p = 0; p < problems; ++p) rounds += policy.rounds(p);
  return rounds * (learner.samples_per_update() + (greedy ? 1 : 0));
}

std::uint64_t Trainer::evaluations_per_update() const {
  return emplace::evaluations_per_update(policy_, learner_, problems_.size(), greedy_is_due());
}

void Trainer::roll_out(std::size_t samples, bool greedy) {
  RollOut request{.seed = seed_, .update = updates_ + 1, .samples = samples, .greedy = greedy, .schedule = schedule_};
  std::vector<Placement> best;  // as it is now: it may change on the way
  for (const Best& each : best_) best.push_back(each.placement);
  for (std::size_t p = 0; p < best_.size(); ++p) request.best.push_back(best_[p].any ? &best[p] : nullptr);
  emplace::roll_out(policy_, evaluator_, problems_, request, rollouts_, [this](const Rollout& rollout) {
    ++evaluations_;
    Best& present = best_.at(rollout.problem);
    if (!present.any || better(rollout.outcome, present.outcome))
      present = {true, rollout.placement, rollout.outcome, evaluations_};
  });
}

UpdateReport Trainer::step() {
  UpdateReport report;
  report.greedy_seconds = std::nan("");
  try {
    if (greedy_is_due()) {
      roll_out(1, true);
      const Outcome& outcome = rollouts_[policy_.rounds(0) - 1].outcome;
      if (outcome.feasible()) report.greedy_seconds = to_seconds(outcome.makespan);
    }
    roll_out(learner_.samples_per_update(), false);
    report.learner = learner_.update(policy_, rollouts_);
  } catch (const NotFinite& error) {
    throw NotFinite("update {}: {}; the learning rate may be too large", updates_ + 1, error.what());
  }
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
  if (updates_ > most_updates) throw InputError("checkpoint", "array updates is {}, wanted up to 2^53", updates_);
  evaluations_ = get_scalar<std::uint64_t>(state, "evaluations");
  for (std::size_t p = 0; p < best_.size(); ++p) {
    best_[p] = saved_best(state, p);
    if (best_[p].any) check_placement(*problems_[p].problem, best_[p].placement, "checkpoint");
  }
}

Best saved_best(const State& state, std::size_t problem) {
  const std::string at = fmt::format("best.{}.", problem);
  if (!state.contains(at + "device")) return {};
  Best best;
  best.any = true;
  best.placement.device = get<std::uint8_t>(state, at + "device");
  if (state.contains(at + "order"))
    for (const std::int64_t op : get<std::int64_t>(state, at + "order")) {
      if (op < 0 || op > std::numeric_limits<std::uint32_t>::max())
        throw InputError("checkpoint", "array {}order names op {}", at, op);
      best.placement.order.push_back(static_cast<std::uint32_t>(op));
    }
  const auto& outcome = get<std::int64_t>(state, at + "outcome", 5);
  if (outcome[2] < 0 || outcome[2] > static_cast<std::int64_t>(Infeasible::memory))
    throw InputError("checkpoint", "array {}outcome has the unknown reason {}", at, outcome[2]);
  best.outcome = {outcome[0], outcome[1], static_cast<Infeasible>(outcome[2]), static_cast<std::uint8_t>(outcome[3]),
                  static_cast<std::uint32_t>(outcome[4])};
  best.evaluation = get_scalar<std::uint64_t>(state, at + "evaluation");
  return best;
}

}  // namespace emplace
