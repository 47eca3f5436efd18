// What a trainer learns from besides its own samples: placements that it begins at, and polished ones.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "base/not_finite.hpp"
#include "emplace/base/error.hpp"
#include "learn/samples.hpp"
#include "learn/trainer.hpp"
#include "problem/order.hpp"

namespace emplace::learn {

namespace {

// Placements of a problem that are kept as demonstrations, at most.
constexpr std::size_t most_demonstrations = 8;

// Sorts by outcome, the best first, and leaves out all but the first of equal placements.
void keep_distinct(std::vector<Best>& list) {
  std::ranges::stable_sort(list, [](const Best& a, const Best& b) { return better(a.outcome, b.outcome); });
  std::vector<Best> kept;
  for (Best& each : list)
    if (std::ranges::none_of(kept, [&](const Best& other) { return other.placement == each.placement; }))
      kept.push_back(std::move(each));
  list = std::move(kept);
}

}  // namespace

// ---- Before the first update ----

void Trainer::begin_at(std::size_t problem, const Placement& placement) {
  const evaluate::EvaluationJob job{static_cast<std::uint32_t>(problem), &placement};
  begin_at(problem, placement, evaluator_.evaluate(std::span(&job, 1)).front(), 1);
}

void Trainer::begin_at(std::size_t problem, const Placement& placement, const Outcome& outcome,
                       std::uint64_t evaluations) {
  EMPLACE_CHECK(updates_ == 0 && evaluations > 0);
  evaluations_ += evaluations;
  note(placement, outcome, problem);
  starts_.at(problem).push_back({true, placement, outcome, evaluations_});
}

void Trainer::begin_with(std::span<const HeldOut> starts, std::size_t draws) {
  EMPLACE_CHECK(updates_ == 0 && (starts.empty() || starts.size() == problems_.size()));
  const auto add = [this](const policy::Rollout& rollout, std::size_t problem) {
    starts_[problem].push_back({true, rollout.placement, rollout.outcome, evaluations_});
  };
  try {
    if (starts.empty()) {
      sample_rollouts({}, 1, true);
      for (const policy::Rollout& rollout : rollouts_) add(rollout, rollout.problem);
    }
    for (std::size_t p = 0; p < starts.size(); ++p) {
      const auto evaluated = [&](const policy::Rollout& rollout) {
        note(rollout, p);
        add(rollout, p);
      };
      place_unlearned(starts[p], static_cast<std::uint32_t>(p), 0, evaluated);
      if (draws > 0) place_unlearned(starts[p], static_cast<std::uint32_t>(p), draws, evaluated);
    }
  } catch (const NotFinite& error) {
    throw NotFinite("before the first update: {}; the training that it starts from diverged", error.what());
  }
}

void Trainer::end_of_beginning() {
  EMPLACE_CHECK(updates_ == 0);
  for (std::vector<Best>& starts : starts_) keep_distinct(starts);
  polish_starts();
  for (std::size_t p = 0; p < problems_.size(); ++p) {
    if (options_.demonstrations_share > 0) keep_demonstrations(p);
    starts_[p].clear();
  }
}

void Trainer::polish_starts() {
  std::vector<Candidate> candidates;
  for (std::uint32_t p = 0; p < problems_.size(); ++p)
    for (std::uint32_t i = 0; i < starts_[p].size() && i < static_cast<std::uint32_t>(options_.polish.samples); ++i)
      if (const Best& start = starts_[p][i]; start.outcome.timed())
        candidates.push_back({{}, &start.placement, start.outcome, p, i});
  const std::uint64_t cost = candidates.size() * static_cast<std::uint64_t>(options_.polish.moves);
  if (options_.polish_pool == nullptr || !may_spend(cost + evaluations_per_update())) return;
  PolishReport report;
  const std::vector<search::PolishResult> results = polish(candidates, report);
  for (std::size_t i = 0; i < results.size(); ++i)
    starts_[candidates[i].problem].push_back({true, results[i].best.placement, results[i].best.outcome, evaluations_});
}

void Trainer::keep_demonstrations(std::size_t problem) {
  if (!may_spend(most_demonstrations + evaluations_per_update())) return;
  std::vector<Best>& kept = demonstrations_[problem] = std::move(starts_[problem]);
  keep_distinct(kept);
  kept.resize(std::min(kept.size(), most_demonstrations));
  const policy::PolicyProblem& of = problems_[problem];
  for (Best& each : kept) {
    Placement nearest = on_units(*of.problem, of.grouping, each.placement);
    if (!each.placement.order.empty()) nearest.order = upward_rank_order(*of.problem, nearest.device);
    if (nearest == each.placement) continue;
    const evaluate::EvaluationJob job{static_cast<std::uint32_t>(problem), &nearest};
    const Outcome outcome = evaluator_.evaluate(std::span(&job, 1)).front();
    each = {true, std::move(nearest), outcome, ++evaluations_};
    note(each.placement, each.outcome, problem);
  }
  std::erase_if(kept, [](const Best& each) { return !each.outcome.feasible(); });
  keep_distinct(kept);
}

// ---- In every update ----

bool Trainer::is_turn_of_best(std::uint64_t update) const {
  constexpr std::uint32_t turn = 1U << 31U;  // no sample's index
  return Stream({.seed = options_.seed, .purpose = Purpose::polish, .update = update, .index = turn}).below(2) == 0;
}

std::vector<Trainer::Candidate> Trainer::best_of(std::span<const policy::Rollout> rollouts) const {
  std::map<std::uint32_t, std::vector<Candidate>> by_problem;
  const std::vector<std::size_t> begins = sample_begins(rollouts);
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    const auto sample = rollouts.subspan(begins[s], begins[s + 1] - begins[s]);
    const policy::Rollout& last = sample.back();
    if (last.outcome.timed())
      by_problem[last.problem].push_back({sample, &last.placement, last.outcome, last.problem, last.sample});
  }
  std::vector<Candidate> best;
  for (auto& [problem, list] : by_problem) {
    // The best so far has other blocks in each update, so that polishing goes on where the samples are still worse.
    // They begin elsewhere: where one placement is polished, the two take turns, at random.
    const Best& so_far = best_[problem];
    if (options_.polish.samples > 1 || is_turn_of_best(rollouts.front().update))
      list.push_back({list.front().sample, &so_far.placement, so_far.outcome, problem, ~problem});
    std::ranges::stable_sort(list, [](const Candidate& a, const Candidate& b) { return better(a.outcome, b.outcome); });
    std::set<std::vector<std::uint8_t>> seen;
    for (const Candidate& each : list)
      if (seen.size() < static_cast<std::size_t>(options_.polish.samples) && seen.insert(each.placement->device).second)
        best.push_back(each);
  }
  return best;
}

std::vector<search::PolishResult> Trainer::polish(std::span<const Candidate> candidates, PolishReport& report) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<search::PolishJob> jobs;
  for (const Candidate& each : candidates) {
    search::PolishJob& job = jobs.emplace_back();
    job.problem = each.problem;
    job.start = *each.placement;
    const std::vector<std::uint32_t>& units = problems_[each.problem].grouping.unit_of_op;
    if (!each.sample.empty() && learner_.can_be_taught()) job.unit_of_op = policy_.expressible_units(each.sample);
    if (job.unit_of_op.empty()) job.unit_of_op = units;
    if (job.unit_of_op != units) job.finer_of_op = units;
    const std::uint64_t update = each.sample.empty() ? 0 : each.sample.front().update;
    job.seed =
        Stream({.seed = options_.seed, .purpose = Purpose::polish, .update = update, .index = each.index}).bits64();
    job.evaluations = static_cast<std::uint64_t>(options_.polish.moves);
  }
  std::vector<search::PolishResult> results = options_.polish_pool->run(jobs);
  double gain = 0;
  std::size_t feasible = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const search::Polished& best = results[i].best;
    evaluations_ += results[i].evaluations;
    report.evaluations += results[i].evaluations;
    note(best.placement, best.outcome, candidates[i].problem);
    if (!candidates[i].outcome.feasible()) continue;
    ++feasible;
    gain += 1 - static_cast<double>(best.outcome.makespan) / static_cast<double>(candidates[i].outcome.makespan);
  }
  report.samples += results.size();
  report.gain = feasible > 0 ? gain / static_cast<double>(feasible) : std::nan("");
  report.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return results;
}

void Trainer::polish_batch(std::uint64_t drawn, std::deque<search::Polished>& kept, std::vector<Lesson>& lessons,
                           PolishReport& report) {
  const double share = options_.polish.share_at(rollouts_.front().progress);
  credit_ += static_cast<double>(drawn) * share / (1 - share);
  const std::vector<Candidate> candidates = best_of(rollouts_);
  const std::uint64_t cost = candidates.size() * static_cast<std::uint64_t>(options_.polish.moves);
  if (candidates.empty() || credit_ < static_cast<double>(cost) || !may_spend(cost)) return;
  std::vector<search::PolishResult> results = polish(candidates, report);
  credit_ -= static_cast<double>(report.evaluations);
  for (std::size_t i = 0; i < results.size(); ++i) {
    search::Polished& found = results[i].on_units;
    if (!better(found.outcome, candidates[i].outcome)) continue;
    kept.push_back(std::move(found));
    lessons.push_back({candidates[i].sample, kept.back().placement, kept.back().outcome});
  }
}

void Trainer::add_demonstrations(std::vector<Lesson>& lessons) const {
  const double used = rollouts_.front().progress;
  if (used >= options_.demonstrations_share) return;
  const std::vector<std::size_t> begins = sample_begins(rollouts_);
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    const policy::Rollout& first = rollouts_[begins[s]];
    if (s > 0 && first.problem == rollouts_[begins[s - 1]].problem) continue;  // the first sample of each problem
    const std::vector<Best>& all = demonstrations_[first.problem];
    if (all.empty()) continue;
    const double left = 1 - used / options_.demonstrations_share;
    const auto shown = static_cast<std::size_t>(std::ceil(left * static_cast<double>(all.size())));
    const Best& turn = all[updates_ % std::max<std::size_t>(1, shown)];
    lessons.push_back(
        {std::span(rollouts_).subspan(begins[s], begins[s + 1] - begins[s]), turn.placement, turn.outcome});
  }
}

void Trainer::teach(std::uint64_t drawn, UpdateReport& report) {
  std::deque<search::Polished> kept;
  std::vector<Lesson> lessons;
  if (options_.polish_pool != nullptr && options_.polish.samples > 0) polish_batch(drawn, kept, lessons, report.polish);
  add_demonstrations(lessons);
  if (lessons.empty() || !learner_.can_be_taught() || !may_spend(lessons.size())) return;
  const std::vector<policy::Rollout> taught =
      taught_samples(policy_, evaluator_, problems_, options_.schedule, lessons,
                     [this](const policy::Rollout& rollout) { note(rollout, rollout.problem); });
  const std::vector<std::size_t> begins = sample_begins(taught);
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    const auto sample = std::span(taught).subspan(begins[s], begins[s + 1] - begins[s]);
    if (!sample.back().outcome.feasible()) continue;
    learner_.teach(sample);
    ++report.taught;
  }
}

}  // namespace emplace::learn
