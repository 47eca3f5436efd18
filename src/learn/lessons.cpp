#include "learn/lessons.hpp"

#include <algorithm>

#include "learn/samples.hpp"
#include "problem/order.hpp"

namespace emplace::learn {

namespace {

// Of an op over the devices that can run it.
double mean_time(const Problem& problem, std::uint32_t op) {
  double sum = 0;
  std::size_t able = 0;
  for (std::size_t d = 0; d < problem.device_count(); ++d)
    if (const Ticks time = problem.op_time[op * problem.device_count() + d]; time != cannot_run) {
      sum += static_cast<double>(time);
      ++able;
    }
  return able == 0 ? 0 : sum / static_cast<double>(able);
}

}  // namespace

Placement on_units(const Problem& problem, const Grouping& units, const Placement& placement) {
  const std::size_t devices = problem.device_count();
  std::vector<std::uint8_t> device_of_unit;
  std::vector<double> work(devices);
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    std::ranges::fill(work, 0.0);
    // The least weight makes ops without time count too.
    for (const std::uint32_t op : units.members[unit]) work[placement.device[op]] += 1 + mean_time(problem, op);
    const auto row = std::span(units.allowed).subspan(unit * devices, devices);
    const bool any = std::ranges::find(row, 1) != row.end();
    std::size_t best = devices;
    for (std::size_t d = 0; d < devices; ++d)
      if ((!any || row[d] != 0) && (best == devices || work[d] > work[best])) best = d;
    device_of_unit.push_back(static_cast<std::uint8_t>(best));
  }
  return units.expand(device_of_unit);
}

std::vector<policy::Rollout> taught_samples(const policy::Policy& policy, evaluate::Evaluator& evaluator,
                                            std::span<const policy::PolicyProblem> problems, Schedule schedule,
                                            std::span<const Lesson> lessons,
                                            const std::function<void(const policy::Rollout&)>& evaluated) {
  std::vector<policy::Rollout> taught;
  std::vector<std::size_t> unknown;  // positions of last rounds
  for (const Lesson& lesson : lessons) {
    const std::vector<std::uint32_t> labels = policy.expressible_units(lesson.sample);
    if (labels.empty()) continue;
    const std::size_t begin = taught.size();
    for (const policy::Rollout& round : lesson.sample) {
      taught.push_back(decisions_of(round));
      taught.back().outcome = round.outcome;
    }
    const std::span<policy::Rollout> rounds = std::span(taught).subspan(begin);
    policy::Rollout& last = rounds.back();
    const Problem& problem = *problems[last.problem].problem;
    policy.express(rounds, on_units(problem, group_by(problem, labels), lesson.placement));
    // As for drawn samples: a sample's first round decides on the order of all.
    if (schedule != Schedule::fifo)
      last.placement.order =
          rounds.size() > 1 ? lesson.sample.front().placement.order : upward_rank_order(problem, last.placement.device);
    if (last.placement == lesson.placement)
      last.outcome = lesson.outcome;
    else
      unknown.push_back(taught.size() - 1);
  }
  std::vector<evaluate::EvaluationJob> jobs;
  for (const std::size_t i : unknown) jobs.push_back({taught[i].problem, &taught[i].placement});
  const std::vector<Outcome> outcomes = jobs.empty() ? std::vector<Outcome>() : evaluator.evaluate(jobs);
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    taught[unknown[i]].outcome = outcomes[i];
    evaluated(taught[unknown[i]]);
  }
  return taught;
}

}  // namespace emplace::learn
