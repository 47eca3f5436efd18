#include "learn/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/not_finite.hpp"
#include "emplace/base/error.hpp"
#include "learn/sampling.hpp"

namespace emplace::learn {

namespace {
bool is_due_before(std::uint64_t every, std::uint64_t update) { return every > 0 && (update - 1) % every == 0; }
bool is_due_after(std::uint64_t every, std::uint64_t update) { return update % every == 0; }

double feasible_seconds(const Outcome& outcome) {
  return outcome.feasible() ? to_seconds(outcome.makespan) : std::nan("");
}

// How many samples an update had, and the step times of those that are feasible.
void report_times(std::span<const policy::Rollout> rollouts, UpdateReport& report) {
  report.samples = rollouts.size();
  std::vector<double> times;
  times.reserve(rollouts.size());
  double sum = 0, best = std::numeric_limits<double>::infinity();
  for (const policy::Rollout& rollout : rollouts) {
    if (!rollout.outcome.feasible()) continue;
    times.push_back(to_seconds(rollout.outcome.makespan));
    sum += times.back();
    best = std::min(best, times.back());
  }
  const bool any = !times.empty();
  report.feasible_share = static_cast<double>(times.size()) / static_cast<double>(rollouts.size());
  report.mean_seconds = any ? sum / static_cast<double>(times.size()) : std::nan("");
  report.best_seconds = any ? best : std::nan("");
  // Each search starts where the one before it ended; to sort tens of thousands of samples would take milliseconds of
  // rank 0's time.
  auto from = times.begin();
  for (std::size_t q = 0; q < reported_quantiles.size(); ++q) {
    if (any) {
      const auto at = times.begin() + static_cast<std::ptrdiff_t>((reported_quantiles[q] * times.size() - 1) / 100);
      std::nth_element(from, at, times.end());
      from = at;
    }
    report.quantile_seconds[q] = any ? *from : std::nan("");
  }
}

}  // namespace

std::vector<std::uint32_t> problems_of_update(std::size_t count, const TrainerOptions& options, std::uint64_t update) {
  std::vector<std::uint32_t> list(count);
  std::iota(list.begin(), list.end(), 0u);
  const std::size_t drawn = options.problems_per_update;
  if (drawn == 0 || drawn >= count) return list;
  const std::uint64_t first = update - (update - 1) % options.hold_problems;
  Stream stream({.seed = options.seed, .purpose = Purpose::choose_problem, .update = first});
  for (std::size_t i = 0; i < drawn; ++i)
    std::swap(list[i], list[i + stream.below(static_cast<std::uint32_t>(count - i))]);
  list.resize(drawn);
  std::ranges::sort(list);
  return list;
}

std::uint64_t evaluations_of_update(const policy::Policy& policy, const Learner& learner, std::size_t problems,
                                    const TrainerOptions& options, std::uint64_t update) {
  std::uint64_t evaluations = 0;
  for (const std::uint32_t p : problems_of_update(problems, options, update))
    evaluations += policy.rounds(p) * learner.samples_per_update();
  if (is_due_before(options.greedy_every, update))
    for (std::uint32_t p = 0; p < problems; ++p) evaluations += policy.rounds(p);
  if (is_due_after(options.held_out_every, update))
    for (const HeldOut& each : options.held_out) evaluations += each.policy->rounds(0);
  return evaluations;
}

Trainer::Trainer(policy::Policy& policy, Learner& learner, evaluate::Evaluator& evaluator,
                 std::span<const policy::PolicyProblem> problems, const TrainerOptions& options)
    : policy_(policy),
      learner_(learner),
      evaluator_(evaluator),
      problems_(problems),
      options_(options),
      best_(problems.size()),
      starts_(problems.size()),
      demonstrations_(problems.size()) {
  EMPLACE_CHECK(!problems.empty() && options.hold_problems > 0 && options.held_out_every > 0);
  learner.use(options.learner_workers);
  EMPLACE_CHECK((options.controllers != nullptr) == (learner.asynchronous() != nullptr));
  if (options.controllers == nullptr) return;
  EMPLACE_CHECK(problems.size() == 1 && options.held_out.empty() && options.greedy_every == 0);
  store_.emplace(policy, *learner.asynchronous(), *options.controllers);
}

std::uint64_t Trainer::evaluations_per_update() const {
  return evaluations_of_update(policy_, learner_, problems_.size(), options_, updates_ + 1);
}

double Trainer::progress() const {
  return options_.budget_used ? std::clamp(options_.budget_used(updates_, evaluations_), 0.0, 1.0) : 0;
}

bool Trainer::may_spend(std::uint64_t evaluations) const {
  return !options_.may_begin || options_.may_begin(updates_, evaluations_ + evaluations);
}

// Counts an evaluation, and keeps its placement if it is the best of the problem so far.
void Trainer::note(const policy::Rollout& rollout, std::size_t problem) {
  ++evaluations_;
  note(rollout.placement, rollout.outcome, problem);
}

void Trainer::note(const Placement& placement, const Outcome& outcome, std::size_t problem) {
  Best& present = best_.at(problem);
  if (!present.any || better(outcome, present.outcome)) present = {true, placement, outcome, evaluations_};
}

SamplingRequest Trainer::request_of(std::uint64_t update, std::size_t samples) const {
  return {.seed = options_.seed,
          .update = update,
          .progress = progress(),
          .samples = samples,
          .schedule = options_.schedule};
}

void Trainer::take_next_gradient(UpdateReport& report) {
  const std::uint64_t each = evaluations_per_update();
  store_->give(
      [this](std::uint64_t number) {
        SamplingRequest request = request_of(number, learner_.samples_per_update());
        for (const Best& best : best_) request.best.push_back(best.any ? &best.placement : nullptr);
        return request;
      },
      [&](std::size_t open) {
        return !options_.may_begin || options_.may_begin(updates_ + open, evaluations_ + (open + 1) * each);
      });
  ParameterStore::Update update = store_->next();
  rollouts_ = std::move(update.rollouts);
  in_order_of_evaluation(rollouts_, [this](const policy::Rollout& rollout) { note(rollout, rollout.problem); });
  report.learner = std::move(update.columns);
  report.controller = update.controller;
  report.staleness = update.staleness;
}

void Trainer::sample_rollouts(std::vector<std::uint32_t> problems, std::size_t samples, bool greedy) {
  SamplingRequest request = request_of(updates_ + 1, samples);
  request.problems = std::move(problems);
  request.greedy = greedy;
  std::vector<Placement> best;  // copies: best_ may change during the evaluation
  for (const Best& each : best_) best.push_back(each.placement);
  for (std::size_t p = 0; p < best_.size(); ++p) request.best.push_back(best_[p].any ? &best[p] : nullptr);
  const auto evaluated = [this](const policy::Rollout& rollout) { note(rollout, rollout.problem); };
  if (options_.learner_workers == nullptr) {
    const auto prepare = [this] { return learner_.prepare(policy_, rollouts_); };
    emplace::learn::sample_rollouts(policy_, evaluator_, problems_, request, rollouts_, evaluated,
                                    greedy ? std::function<bool()>() : prepare);
    return;
  }
  options_.learner_workers->sample_rollouts(policy_, request, rollouts_);
  in_order_of_evaluation(rollouts_, evaluated);
}

void Trainer::place_unlearned(const HeldOut& each, std::uint32_t in_evaluator, std::size_t draws,
                              const std::function<void(const policy::Rollout&)>& evaluated) {
  const SamplingRequest request{.seed = options_.seed,
                                .update = update_after_training(options_.seed),
                                .samples = std::max<std::size_t>(1, draws),
                                .greedy = draws == 0,
                                .schedule = options_.schedule,
                                .first_in_evaluator = in_evaluator};
  std::vector<policy::Rollout> rollouts;
  emplace::learn::sample_rollouts(*each.policy, evaluator_, {each.problem, 1}, request, rollouts, evaluated);
}

std::vector<Best> Trainer::place_held_out() {
  std::vector<Best> placed;
  for (const HeldOut& each : options_.held_out) {
    const std::span<float> parameters = each.policy->parameters();
    EMPLACE_CHECK(parameters.size() == policy_.parameters().size());
    std::ranges::copy(policy_.parameters(), parameters.begin());
    each.policy->parameters_changed();
    Best best;
    std::uint64_t rounds = 0;
    place_unlearned(each, static_cast<std::uint32_t>(problems_.size() + placed.size()), 0,
                    [&](const policy::Rollout& rollout) {
                      ++rounds;
                      if (!best.any || better(rollout.outcome, best.outcome))
                        best = {true, rollout.placement, rollout.outcome, 0};
                    });
    best.evaluation = rounds;
    placed.push_back(std::move(best));
  }
  return placed;
}

void Trainer::learn(std::uint64_t update, UpdateReport& report) {
  policy_.advance(progress());
  if (is_due_before(options_.greedy_every, update)) {
    sample_rollouts({}, 1, true);
    report.greedy_seconds = feasible_seconds(rollouts_[policy_.rounds(0) - 1].outcome);
  }
  if (store_) {
    take_next_gradient(report);
  } else {
    const std::uint64_t before = evaluations_;
    sample_rollouts(problems_of_update(problems_.size(), options_, update), learner_.samples_per_update(), false);
    teach(evaluations_ - before, report);
    report.learner = learner_.update(policy_, rollouts_);
  }
  if (!is_due_after(options_.held_out_every, update)) return;
  const std::vector<Best> placed = place_held_out();
  for (std::size_t p = 0; p < placed.size(); ++p) {
    evaluations_ += placed[p].evaluation;
    report.held_out_seconds[p] = feasible_seconds(placed[p].outcome);
  }
}

UpdateReport Trainer::step() {
  UpdateReport report;
  report.greedy_seconds = std::nan("");
  report.held_out_seconds.assign(options_.held_out.size(), std::nan(""));
  const std::uint64_t update = updates_ + 1;
  try {
    learn(update, report);
  } catch (const NotFinite& error) {
    throw NotFinite("update {}: {}; the learning rate may be too large", update, error.what());
  }
  ++updates_;
  report.update = updates_;
  report.evaluations = evaluations_;
  report_times(rollouts_, report);
  return report;
}

}  // namespace emplace::learn
