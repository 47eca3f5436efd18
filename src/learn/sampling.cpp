#include "learn/sampling.hpp"

#include <algorithm>
#include <numeric>

#include "emplace/base/error.hpp"
#include "problem/order.hpp"

namespace emplace::learn {

namespace {

std::vector<std::uint32_t> problems_of(const SamplingRequest& request, std::size_t problems) {
  if (!request.problems.empty()) return request.problems;
  std::vector<std::uint32_t> all(problems);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

// The requested samples. The rollouts of each are initialised when its first round is drawn: workers would have to wait
// if tens of thousands were initialised at once.
class Samples {
 public:
  Samples(const policy::Policy& policy, std::size_t problems, const SamplingRequest& request,
          std::vector<policy::Rollout>& rollouts)
      : request_(request), list_(problems_of(request, problems)), rollouts_(rollouts) {
    const auto [first, end] = request.part.value_or(std::pair(std::size_t{0}, sample_count(request, problems)));
    EMPLACE_CHECK(first <= end && end <= sample_count(request, problems));
    first_ = first;
    for (std::size_t sample = first; sample < end; ++sample)
      begin_.push_back(begin_.back() + policy.rounds(problem(sample - first)));
    rollouts.resize(std::min(rollouts.size(), begin_.back()));
    rollouts.reserve(begin_.back());
    streams_.reserve(end - first);
  }

  [[nodiscard]] std::size_t count() const { return begin_.size() - 1; }
  [[nodiscard]] std::size_t rounds(std::size_t s) const { return begin_[s + 1] - begin_[s]; }
  [[nodiscard]] policy::Rollout& at(std::size_t s, std::size_t round) const { return rollouts_[begin_[s] + round]; }

  // Where the round is drawn. First rounds must be asked for in the order of the samples.
  policy::SampleSlot slot(std::size_t s, std::size_t round) {
    if (round == 0) lay_out(s);
    return {&streams_[s], std::span(rollouts_).subspan(begin_[s], round + 1), request_.greedy,
            request_.best.empty() ? nullptr : request_.best[problem(s)]};
  }

 private:
  [[nodiscard]] std::uint32_t problem(std::size_t s) const { return list_[(first_ + s) / request_.samples]; }

  void lay_out(std::size_t s) {
    EMPLACE_CHECK(streams_.size() == s);
    const auto sample = static_cast<std::uint32_t>(first_ + s);
    streams_.emplace_back(StreamKey{
        .seed = request_.seed, .purpose = Purpose::sample_placement, .update = request_.update, .index = sample});
    if (rollouts_.size() < begin_[s + 1])
      rollouts_.resize(begin_[s + 1]);  // within the reserved memory, so they do not move
    for (std::size_t round = 0; round < rounds(s); ++round) {
      policy::Rollout& rollout = at(s, round);
      rollout.update = request_.update;
      rollout.progress = request_.progress;
      rollout.problem = problem(s);
      rollout.sample = sample;
      rollout.round = static_cast<std::uint32_t>(round);
      rollout.actions.clear();
      rollout.observation.clear();
      rollout.placement.order.clear();
      rollout.starts.clear();
    }
  }

  const SamplingRequest& request_;
  std::vector<std::uint32_t> list_;  // of problems
  std::vector<policy::Rollout>& rollouts_;
  std::size_t first_ = 0;              // sample
  std::vector<std::size_t> begin_{0};  // samples + 1, into rollouts_
  std::vector<Stream> streams_;        // of the initialised samples; does not move
};

void set_order(std::span<const policy::PolicyProblem> problems, Schedule schedule, const policy::SampleSlot& slot) {
  policy::Rollout& now = slot.rounds.back();
  std::vector<std::uint32_t>& order = now.placement.order;
  if (schedule == Schedule::fifo)
    order.clear();
  else if (order.empty())
    order = now.round > 0 ? slot.rounds.front().placement.order
                          : upward_rank_order(*problems[now.problem].problem, now.placement.device);
}

// The beginning of part `part`. Each part is longer than the one before, so that evaluation of the first begins soon.
// No part is empty.
std::size_t begin_of_part(std::size_t part, std::size_t parts, std::size_t slots) {
  return std::max(part, slots * part * (part + 1) / (parts * (parts + 1)));
}

// Draws one round of the samples in `list`, part by part; each part is evaluated while the next is drawn. Then calls
// `meanwhile`, if given, until it returns false.
std::vector<Outcome> draw_and_evaluate(const policy::Policy& policy, evaluate::Evaluator& evaluator,
                                       std::span<const policy::PolicyProblem> problems, const SamplingRequest& request,
                                       Samples& samples, std::span<const std::size_t> list, std::size_t round,
                                       const std::function<bool()>& meanwhile) {
  const bool with_starts = policy.reads_start_times();
  const std::size_t parts = evaluator.parts_of(list.size());
  std::vector<policy::SampleSlot> slots;
  std::vector<evaluate::EvaluationJob> jobs;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = begin_of_part(part, parts, list.size());
    const std::size_t end = begin_of_part(part + 1, parts, list.size());
    slots.clear();
    jobs.clear();
    for (const std::size_t s : list.subspan(begin, end - begin)) slots.push_back(samples.slot(s, round));
    policy.sample(slots);
    for (const policy::SampleSlot& slot : slots) {
      set_order(problems, request.schedule, slot);
      policy::Rollout& now = slot.rounds.back();
      jobs.push_back({request.first_in_evaluator + now.problem, &now.placement, with_starts ? &now.starts : nullptr,
                      policy.rounds(now.problem) > 1 ? now.sample : evaluate::EvaluationJob::no_series});
    }
    evaluator.submit(jobs);
  }
  while (meanwhile && meanwhile()) evaluator.poll();
  return evaluator.wait();
}

void sample_round_by_round(const policy::Policy& policy, evaluate::Evaluator& evaluator,
                           std::span<const policy::PolicyProblem> problems, const SamplingRequest& request,
                           std::vector<policy::Rollout>& rollouts,
                           const std::function<void(const policy::Rollout&)>& evaluated,
                           const std::function<bool()>& meanwhile) {
  Samples samples(policy, problems.size(), request, rollouts);
  std::size_t rounds = 0;
  for (std::size_t s = 0; s < samples.count(); ++s) rounds = std::max(rounds, samples.rounds(s));
  std::vector<std::size_t> list;
  for (std::size_t round = 0; round < rounds; ++round) {
    list.clear();
    for (std::size_t s = 0; s < samples.count(); ++s)
      if (round < samples.rounds(s)) list.push_back(s);
    const std::vector<Outcome> outcomes = draw_and_evaluate(policy, evaluator, problems, request, samples, list, round,
                                                            round + 1 == rounds ? meanwhile : nullptr);
    EMPLACE_CHECK(outcomes.size() == list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      policy::Rollout& rollout = samples.at(list[i], round);
      rollout.outcome = outcomes[i];
      if (evaluated) evaluated(rollout);
    }
  }
}

}  // namespace

std::uint64_t update_after_training(std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::sample_grouping});
  return (std::uint64_t{1} << 55) + (stream.bits64() >> 10);
}

std::size_t sample_count(const SamplingRequest& request, std::size_t problems) {
  return request.samples * (request.problems.empty() ? problems : request.problems.size());
}

void sample_rollouts(const policy::Policy& policy, evaluate::Evaluator& evaluator,
                     std::span<const policy::PolicyProblem> problems, const SamplingRequest& request,
                     std::vector<policy::Rollout>& rollouts,
                     const std::function<void(const policy::Rollout&)>& evaluated,
                     const std::function<bool()>& meanwhile) {
  try {
    sample_round_by_round(policy, evaluator, problems, request, rollouts, evaluated, meanwhile);
  } catch (...) {
    evaluator.cancel();  // its jobs point to rollouts that are about to change
    throw;
  }
}

void in_order_of_evaluation(std::span<const policy::Rollout> rollouts,
                            const std::function<void(const policy::Rollout&)>& evaluated) {
  std::uint32_t last = 0;
  for (const policy::Rollout& rollout : rollouts) last = std::max(last, rollout.round);
  for (std::uint32_t round = 0; round <= last; ++round)
    for (const policy::Rollout& rollout : rollouts)
      if (rollout.round == round) evaluated(rollout);
}

}  // namespace emplace::learn
