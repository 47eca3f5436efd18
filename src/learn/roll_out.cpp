#include "emplace/learn/roll_out.hpp"

#include <algorithm>
#include <numeric>

#include "emplace/base/error.hpp"
#include "emplace/problem/order.hpp"

namespace emplace {

namespace {

std::vector<std::uint32_t> problems_of(const RollOut& request, std::size_t problems) {
  if (!request.problems.empty()) return request.problems;
  std::vector<std::uint32_t> all(problems);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

// Empty rollouts of the wanted samples and all their rounds; where each sample's begin, and the end.
std::vector<std::size_t> lay_out(const Policy& policy, std::size_t problems, const RollOut& request,
                                 std::vector<Rollout>& rollouts) {
  std::vector<std::size_t> begin{0};
  const std::vector<std::uint32_t> list = problems_of(request, problems);
  const auto [first_sample, end_sample] =
      request.part.value_or(std::pair(std::size_t{0}, sample_count(request, problems)));
  EMPLACE_CHECK(first_sample <= end_sample && end_sample <= sample_count(request, problems));
  for (std::size_t sample = first_sample; sample < end_sample; ++sample) {
    const std::uint32_t p = list[sample / request.samples];
    const std::size_t rounds = policy.rounds(p);
    const std::size_t first = begin.back();
    begin.push_back(first + rounds);
    rollouts.resize(std::max(rollouts.size(), begin.back()));
    for (std::size_t r = 0; r < rounds; ++r) {
      Rollout& rollout = rollouts[first + r];
      rollout.update = request.update;
      rollout.problem = p;
      rollout.sample = static_cast<std::uint32_t>(sample);
      rollout.round = static_cast<std::uint32_t>(r);
      rollout.actions.clear();
      rollout.observation.clear();
      rollout.placement.order.clear();
      rollout.starts.clear();
    }
  }
  rollouts.resize(begin.back());
  return begin;
}

void set_order(std::span<const PolicyProblem> problems, Schedule schedule, const Draw& draw) {
  Rollout& now = draw.rounds.back();
  std::vector<std::uint32_t>& order = now.placement.order;
  if (schedule == Schedule::fifo)
    order.clear();
  else if (order.empty())
    order = now.round > 0 ? draw.rounds.front().placement.order
                          : upward_rank_order(*problems[now.problem].problem, now.placement.device);
}

// Where part `part` of so many begins: each is longer than the one before, so that the first is soon under way. None is
// empty.
std::size_t begin_of_part(std::size_t part, std::size_t parts, std::size_t draws) {
  return std::max(part, draws * part * (part + 1) / (parts * (parts + 1)));
}

// Draws one round of each sample, part by part, and has each part evaluated while the next is drawn; then `meanwhile`,
// if there is any, as often as it wants.
void draw_and_evaluate(const Policy& policy, Evaluator& evaluator, std::span<const PolicyProblem> problems,
                       const RollOut& request, std::span<const Draw> draws, const std::function<bool()>& meanwhile) {
  const bool with_starts = policy.reads_start_times();
  const std::size_t parts = evaluator.parts_of(draws.size());
  std::size_t part = 0;
  const std::vector<Outcome> outcomes = evaluator.evaluate_while([&](std::vector<EvaluationJob>& jobs) {
    if (part == parts) return meanwhile && meanwhile();
    const std::size_t begin = begin_of_part(part, parts, draws.size());
    const std::size_t end = begin_of_part(part + 1, parts, draws.size());
    ++part;
    policy.sample(draws.subspan(begin, end - begin));
    for (const Draw& draw : draws.subspan(begin, end - begin)) {
      set_order(problems, request.schedule, draw);
      Rollout& now = draw.rounds.back();
      jobs.push_back({request.first_in_evaluator + now.problem, &now.placement, with_starts ? &now.starts : nullptr,
                      policy.rounds(now.problem) > 1 ? now.sample : EvaluationJob::no_series});
    }
    return true;
  });
  EMPLACE_CHECK(outcomes.size() == draws.size());
  for (std::size_t i = 0; i < draws.size(); ++i) draws[i].rounds.back().outcome = outcomes[i];
}

}  // namespace

std::uint64_t update_after_training(std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::sample_grouping});
  return (std::uint64_t{1} << 55) + (stream.bits64() >> 10);
}

std::size_t sample_count(const RollOut& request, std::size_t problems) {
  return request.samples * (request.problems.empty() ? problems : request.problems.size());
}

void roll_out(const Policy& policy, Evaluator& evaluator, std::span<const PolicyProblem> problems,
              const RollOut& request, std::vector<Rollout>& rollouts,
              const std::function<void(const Rollout&)>& evaluated, const std::function<bool()>& meanwhile) {
  const std::vector<std::size_t> begin = lay_out(policy, problems.size(), request, rollouts);
  std::vector<Stream> streams;
  for (std::size_t s = 0; s + 1 < begin.size(); ++s)
    streams.emplace_back(StreamKey{.seed = request.seed,
                                   .purpose = Purpose::sample_placement,
                                   .update = request.update,
                                   .index = rollouts[begin[s]].sample});

  std::size_t rounds = 0;
  for (const Rollout& rollout : rollouts) rounds = std::max<std::size_t>(rounds, rollout.round + 1);
  std::vector<Draw> draws;
  for (std::size_t round = 0;; ++round) {
    draws.clear();
    for (std::size_t s = 0; s < streams.size(); ++s)
      if (begin[s] + round < begin[s + 1])
        draws.push_back({&streams[s], std::span(rollouts).subspan(begin[s], round + 1), request.greedy,
                         request.best.empty() ? nullptr : request.best[rollouts[begin[s]].problem]});
    if (draws.empty()) return;
    draw_and_evaluate(policy, evaluator, problems, request, draws, round + 1 == rounds ? meanwhile : nullptr);
    if (evaluated)
      for (const Draw& draw : draws) evaluated(draw.rounds.back());
  }
}

void in_order_of_evaluation(std::span<const Rollout> rollouts, const std::function<void(const Rollout&)>& evaluated) {
  std::uint32_t last = 0;
  for (const Rollout& rollout : rollouts) last = std::max(last, rollout.round);
  for (std::uint32_t round = 0; round <= last; ++round)
    for (const Rollout& rollout : rollouts)
      if (rollout.round == round) evaluated(rollout);
}

}  // namespace emplace
