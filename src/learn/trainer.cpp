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
constexpr std::uint64_t most_updates = std::uint64_t{1} << 53;

bool is_due_before(std::uint64_t every, std::uint64_t update) { return every > 0 && (update - 1) % every == 0; }
bool is_due_after(std::uint64_t every, std::uint64_t update) { return update % every == 0; }

double feasible_seconds(const Outcome& outcome) {
  return outcome.feasible() ? to_seconds(outcome.makespan) : std::nan("");
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
      best_(problems.size()) {
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

// Counts an evaluation, and keeps its placement if it is the best of the problem so far.
void Trainer::note(const policy::Rollout& rollout, std::size_t problem) {
  ++evaluations_;
  Best& present = best_.at(problem);
  if (!present.any || better(rollout.outcome, present.outcome))
    present = {true, rollout.placement, rollout.outcome, evaluations_};
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

void Trainer::place_likeliest(const HeldOut& each, std::uint32_t in_evaluator,
                              const std::function<void(const policy::Rollout&)>& evaluated) {
  const SamplingRequest request{.seed = options_.seed,
                                .update = update_after_training(options_.seed),
                                .greedy = true,
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
    place_likeliest(each, static_cast<std::uint32_t>(problems_.size() + placed.size()),
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

void Trainer::begin_at(std::size_t problem, const Placement& placement) {
  EMPLACE_CHECK(updates_ == 0);
  const evaluate::EvaluationJob job{static_cast<std::uint32_t>(problem), &placement};
  policy::Rollout rollout;
  rollout.placement = placement;
  rollout.outcome = evaluator_.evaluate(std::span(&job, 1)).front();
  note(rollout, problem);
}

void Trainer::begin_with(std::span<const HeldOut> starts) {
  EMPLACE_CHECK(updates_ == 0 && (starts.empty() || starts.size() == problems_.size()));
  try {
    if (starts.empty()) sample_rollouts({}, 1, true);
    for (std::size_t p = 0; p < starts.size(); ++p)
      place_likeliest(starts[p], static_cast<std::uint32_t>(p),
                      [&](const policy::Rollout& rollout) { note(rollout, p); });
  } catch (const NotFinite& error) {
    throw NotFinite("before the first update: {}; the training that it starts from diverged", error.what());
  }
}

UpdateReport Trainer::step() {
  UpdateReport report;
  report.greedy_seconds = std::nan("");
  report.held_out_seconds.assign(options_.held_out.size(), std::nan(""));
  const std::uint64_t update = updates_ + 1;
  try {
    policy_.advance(progress());
    if (is_due_before(options_.greedy_every, update)) {
      sample_rollouts({}, 1, true);
      report.greedy_seconds = feasible_seconds(rollouts_[policy_.rounds(0) - 1].outcome);
    }
    if (store_) {
      take_next_gradient(report);
    } else {
      sample_rollouts(problems_of_update(problems_.size(), options_, update), learner_.samples_per_update(), false);
      report.learner = learner_.update(policy_, rollouts_);
    }
    if (is_due_after(options_.held_out_every, update)) {
      const std::vector<Best> placed = place_held_out();
      for (std::size_t p = 0; p < placed.size(); ++p) {
        evaluations_ += placed[p].evaluation;
        report.held_out_seconds[p] = feasible_seconds(placed[p].outcome);
      }
    }
  } catch (const NotFinite& error) {
    throw NotFinite("update {}: {}; the learning rate may be too large", update, error.what());
  }
  ++updates_;
  report.update = updates_;
  report.evaluations = evaluations_;
  report.samples = rollouts_.size();

  std::vector<double> times;
  times.reserve(rollouts_.size());
  double sum = 0, best = std::numeric_limits<double>::infinity();
  for (const policy::Rollout& rollout : rollouts_) {
    if (!rollout.outcome.feasible()) continue;
    times.push_back(to_seconds(rollout.outcome.makespan));
    sum += times.back();
    best = std::min(best, times.back());
  }
  const bool any = !times.empty();
  report.feasible_share = static_cast<double>(times.size()) / static_cast<double>(rollouts_.size());
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
  return report;
}

// ---- State ----

State Trainer::save() const {
  State state;
  put_scalar(state, "updates", updates_);
  put_scalar(state, "evaluations", evaluations_);
  if (store_) store_->save(state);
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
  if (store_) store_->load(state, updates_);
  for (std::size_t p = 0; p < best_.size(); ++p) {
    best_[p] = saved_best(state, p);
    if (!best_[p].any) continue;
    check_placement(*problems_[p].problem, best_[p].placement, "checkpoint");
    if (best_[p].evaluation == 0 || best_[p].evaluation > evaluations_)
      throw InputError("checkpoint", "array best.{}.evaluation is {}, but there were {} evaluations", p,
                       best_[p].evaluation, evaluations_);
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
  if (outcome[2] < 0 || outcome[2] > static_cast<std::int64_t>(Infeasible::too_many_cuts))
    throw InputError("checkpoint", "array {}outcome has the unknown reason {}", at, outcome[2]);
  const bool feasible = outcome[2] == 0;
  if (outcome[0] < (feasible ? 0 : Outcome::unknown) || outcome[1] < 0 || (feasible && outcome[1] > 0))
    throw InputError("checkpoint", "array {}outcome has the time {} and the overflow {}, which no outcome has", at,
                     outcome[0], outcome[1]);
  best.outcome = {outcome[0], outcome[1], static_cast<Infeasible>(outcome[2]), static_cast<std::uint8_t>(outcome[3]),
                  static_cast<std::uint32_t>(outcome[4])};
  best.evaluation = get_scalar<std::uint64_t>(state, at + "evaluation");
  return best;
}

}  // namespace emplace::learn
