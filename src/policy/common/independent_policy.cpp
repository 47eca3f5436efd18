#include "emplace/policy/independent_policy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/interrupt.hpp"
#include "emplace/base/error.hpp"
#include "policy/common/categorical_draw.hpp"
#include "policy/common/drawn_sample.hpp"

namespace emplace::policy {

namespace {

// Writes the softmax of a unit's logits over the devices that can run it to `probability`; returns its entropy in nats.
double softmax(std::span<const double> logits, std::span<const std::uint8_t> allowed, std::span<double> probability) {
  const double largest = logits[likeliest(logits, allowed)];
  double sum = 0;
  for (std::size_t d = 0; d < logits.size(); ++d)
    sum += probability[d] = allowed[d] != 0 ? std::exp(logits[d] - largest) : 0;
  double entropy = 0;
  for (double& p : probability) {
    p /= sum;
    if (p > 0) entropy -= p * std::log(p);
  }
  return entropy;
}

}  // namespace

IndependentPolicy::IndependentPolicy(const PolicySetup& setup, std::vector<float> parameters)
    : problems_(setup.problems), parameters_(std::move(parameters)), gradient_(parameters_.size(), 0.0F) {
  for (const PolicyProblem& problem : problems_) allowed_.push_back(allowed_devices(problem.grouping));
}

std::vector<std::uint32_t> IndependentPolicy::expressible_units(std::span<const Rollout> rounds) const {
  return problems_[rounds.back().problem].grouping.unit_of_op;
}

void IndependentPolicy::express(std::span<Rollout> rounds, const Placement& placement) const {
  Rollout& rollout = rounds.back();
  const Grouping& units = problems_[rollout.problem].grouping;
  rollout.actions = units.read(placement);
  units.expand(rollout.actions, rollout.placement);
}

void IndependentPolicy::parameters_changed() {
  for (const float parameter : parameters_)
    if (!std::isfinite(parameter)) throw InputError("checkpoint", "a parameter of the policy is {}", parameter);
}

IndependentPolicy::Distribution IndependentPolicy::distribution(std::size_t problem) const {
  const Grouping& units = problems_[problem].grouping;
  const std::size_t devices = units.device_count();
  std::vector<double> values(units.count() * devices);
  logits(problem, values);
  Distribution result{std::vector<double>(values.size()), std::vector<double>(units.count())};
  for (std::size_t unit = 0; unit < units.count(); ++unit)
    result.entropy[unit] = softmax(std::span<const double>(values).subspan(unit * devices, devices),
                                   std::span(allowed_[problem]).subspan(unit * devices, devices),
                                   std::span(result.probability).subspan(unit * devices, devices));
  return result;
}

std::vector<IndependentPolicy::Distribution> IndependentPolicy::distributions() const {
  std::vector<Distribution> all;
  for (std::size_t p = 0; p < problems_.size(); ++p) all.push_back(distribution(p));
  return all;
}

MemoryNeed IndependentPolicy::memory_need(std::uint32_t problem, std::size_t, std::size_t) const {
  const auto units = static_cast<double>(problems_[problem].grouping.count());
  constexpr double doubles = 4;  // probabilities, their logarithms, coefficients, logits
  return {.decisions = units,
          .bytes = doubles * sizeof(double) * units * static_cast<double>(problems_[problem].grouping.device_count())};
}

void IndependentPolicy::sample(std::span<const SampleSlot> slots) const {
  const std::vector<Distribution> all = distributions();
  for (const SampleSlot& slot : slots) {
    stop_point();
    Rollout& rollout = slot.rounds.back();
    const Grouping& units = problems_[rollout.problem].grouping;
    const std::size_t devices = units.device_count();
    rollout.actions.resize(units.count());
    for (std::size_t unit = 0; unit < units.count(); ++unit) {
      const auto p = std::span(all[rollout.problem].probability).subspan(unit * devices, devices);
      rollout.actions[unit] = slot.greedy ? static_cast<std::uint8_t>(std::ranges::max_element(p) - p.begin())
                                          : at_quantile(p, slot.stream->uniform());
    }
    units.expand(rollout.actions, rollout.placement);
  }
}

void IndependentPolicy::check(std::span<const Rollout> rounds) const {
  check_count(rounds.size(), 1, "rounds");
  const Rollout& sample = rounds.front();
  const Grouping& units = problems_[sample.problem].grouping;
  check_count(sample.actions.size(), units.count(), "units");
  check_below(sample.actions, units.device_count(), "device");
  for (std::size_t unit = 0; unit < units.count(); ++unit)
    if (allowed_[sample.problem][unit * units.device_count() + sample.actions[unit]] == 0)
      throw InputError("checkpoint", "a sample puts unit {} on device {}, which cannot run it", unit,
                       sample.actions[unit]);
  check_count(sample.observation.size(), 0, "observations");
}

void IndependentPolicy::forward(std::span<const Rollout> rollouts, LogProbabilities& log) {
  const std::vector<Distribution> all = distributions();
  log.begin.assign(1, 0);
  log.value.clear();
  log.entropy.clear();
  for (const Rollout& rollout : rollouts) {
    const Distribution& now = all[rollout.problem];
    const std::size_t devices = problems_[rollout.problem].grouping.device_count();
    for (std::size_t unit = 0; unit < rollout.actions.size(); ++unit)
      log.value.push_back(std::log(now.probability[unit * devices + rollout.actions[unit]]));
    log.begin.push_back(log.value.size());
    log.entropy.push_back(std::accumulate(now.entropy.begin(), now.entropy.end(), 0.0));
  }
}

// d log p[a] / d logit[d] = (d == a) - p[d]; d entropy / d logit[d] = -p[d] (log p[d] + entropy).
void IndependentPolicy::backward(std::span<const Rollout> rollouts, std::span<const double> coefficients,
                                 double entropy_weight) {
  const std::vector<Distribution> all = distributions();
  std::vector<std::vector<double>> by_logit(problems_.size());
  std::size_t head = 0;
  for (const Rollout& rollout : rollouts) {
    const Distribution& now = all[rollout.problem];
    const std::size_t devices = problems_[rollout.problem].grouping.device_count();
    std::vector<double>& sum = by_logit[rollout.problem];
    sum.resize(now.probability.size(), 0.0);
    for (std::size_t unit = 0; unit < rollout.actions.size(); ++unit, ++head)
      for (std::size_t d = 0; d < devices; ++d) {
        const double p = now.probability[unit * devices + d];
        if (p == 0) continue;
        sum[unit * devices + d] += coefficients[head] * ((d == rollout.actions[unit] ? 1 : 0) - p) -
                                   entropy_weight * p * (std::log(p) + now.entropy[unit]);
      }
  }
  for (std::size_t p = 0; p < by_logit.size(); ++p)
    if (!by_logit[p].empty()) add_gradient(p, by_logit[p]);
}

}  // namespace emplace::policy
