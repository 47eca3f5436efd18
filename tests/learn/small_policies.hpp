// Policies small enough to reason about, without closed forms: every decision is a softmax of a row of a table plus,
// for each device, a weight times one observed number.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/policy/policy.hpp"

namespace emplace::test {

class TablePolicy : public policy::Policy {
 public:
  void forward(std::span<const policy::Rollout> rollouts, policy::LogProbabilities& log) override {
    log.begin.assign(1, 0);
    log.value.clear();
    log.entropy.clear();
    for (const policy::Rollout& rollout : rollouts) {
      double entropy = 0;
      for (const Head& head : heads_of(rollout)) {
        const std::vector<double> p = probabilities(head);
        log.value.push_back(std::log(p[head.action]));
        for (const double each : p) entropy -= each > 0 ? each * std::log(each) : 0;
      }
      log.begin.push_back(log.value.size());
      log.entropy.push_back(entropy);
    }
    ++forwards;
    largest_forward = std::max(largest_forward, rollouts.size());
  }

  void backward(std::span<const policy::Rollout> rollouts, std::span<const double> coefficients,
                double entropy_weight) override {
    std::size_t next = 0;
    for (const policy::Rollout& rollout : rollouts)
      for (const Head& head : heads_of(rollout)) {
        const std::vector<double> p = probabilities(head);
        double entropy = 0;
        for (const double each : p) entropy -= each > 0 ? each * std::log(each) : 0;
        const double c = coefficients[next++];
        for (std::size_t d = 0; d < devices_; ++d) {
          double slope = c * ((d == head.action) - p[d]);
          if (p[d] > 0) slope -= entropy_weight * p[d] * (std::log(p[d]) + entropy);
          gradient_[head.row * devices_ + d] += static_cast<float>(slope);
          gradient_[weights() + d] += static_cast<float>(slope * head.observed);
        }
      }
  }

  void check(std::span<const policy::Rollout> rounds) const override { checked.push_back(rounds.size()); }
  std::span<float> parameters() override { return parameters_; }
  std::span<float> gradient() override { return gradient_; }
  [[nodiscard]] std::vector<ParameterInfo> layout() const override {
    return {{"table", {parameters_.size() / devices_, devices_}}};
  }

  std::size_t forwards = 0;  // calls, and the most rollouts of one
  std::size_t largest_forward = 0;
  mutable std::vector<std::size_t> checked;  // rounds of each sample that was

 protected:
  struct Head {
    std::size_t row = 0;
    std::uint8_t action = 0;
    double observed = 0;
  };

  TablePolicy(std::span<const policy::PolicyProblem> problems, std::size_t devices) : devices_(devices) {
    for (const policy::PolicyProblem& problem : problems) {
      problems_.push_back(problem.problem);
      EMPLACE_CHECK(problem.problem->device_count() == devices);
    }
  }
  void set_rows(std::size_t rows) {
    parameters_.assign((rows + 1) * devices_, 0.0f);
    gradient_.assign(parameters_.size(), 0.0f);
  }
  [[nodiscard]] virtual std::vector<Head> heads_of(const policy::Rollout& rollout) const = 0;
  // Likeliest or drawn.
  [[nodiscard]] std::uint8_t decide(const policy::SampleSlot& slot, Head head) const {
    const std::vector<double> p = probabilities(head);
    if (slot.greedy) return static_cast<std::uint8_t>(std::max_element(p.begin(), p.end()) - p.begin());
    double left = slot.stream->uniform();
    std::uint8_t d = 0;
    while (d + 1u < devices_ && left >= p[d]) left -= p[d++];
    return d;
  }
  [[nodiscard]] std::vector<double> probabilities(const Head& head) const {
    std::vector<double> p(devices_);
    for (std::size_t d = 0; d < devices_; ++d)
      p[d] = static_cast<double>(parameters_[head.row * devices_ + d]) + parameters_[weights() + d] * head.observed;
    const double most = *std::max_element(p.begin(), p.end());
    double sum = 0;
    for (double& each : p) sum += each = std::exp(each - most);
    for (double& each : p) each /= sum;
    return p;
  }
  [[nodiscard]] std::size_t weights() const { return parameters_.size() - devices_; }

  std::vector<const Problem*> problems_;
  std::size_t devices_;
  std::vector<float> parameters_, gradient_;
};

// One round with one head for each op, each given the previous decision: op v after device p has row (v, p + 1), the
// first op row (0, 0).
class ChainPolicy final : public TablePolicy {
 public:
  explicit ChainPolicy(std::span<const policy::PolicyProblem> problems, std::size_t devices = 2)
      : TablePolicy(problems, devices) {
    std::size_t ops = 0;
    for (const Problem* problem : problems_) {
      first_op_.push_back(ops);
      ops += problem->op_count();
    }
    set_rows(ops * (devices + 1));
  }
  void sample(std::span<const policy::SampleSlot> slots) const override {
    for (const policy::SampleSlot& slot : slots) {
      policy::Rollout& now = slot.rounds.back();
      now.actions.clear();
      for (std::size_t op = 0; op < problems_[now.problem]->op_count(); ++op)
        now.actions.push_back(decide(slot, {row(now, op), 0, 0}));
      now.placement.device = now.actions;
    }
  }

 private:
  [[nodiscard]] std::size_t row(const policy::Rollout& rollout, std::size_t op) const {
    const std::size_t before = op == 0 ? 0 : rollout.actions[op - 1] + 1u;
    return (first_op_[rollout.problem] + op) * (devices_ + 1) + before;
  }
  [[nodiscard]] std::vector<Head> heads_of(const policy::Rollout& rollout) const override {
    std::vector<Head> heads;
    for (std::size_t op = 0; op < rollout.actions.size(); ++op)
      heads.push_back({row(rollout, op), rollout.actions[op], 0});
    return heads;
  }
  std::vector<std::size_t> first_op_;
};

// Op by op, as in Placeto: in round 0 everything is on device 0, without a decision; round r places op r - 1 and
// observes the logarithm of the last round's time in milliseconds.
class EpisodePolicy final : public TablePolicy {
 public:
  explicit EpisodePolicy(std::span<const policy::PolicyProblem> problems, std::size_t devices = 2)
      : TablePolicy(problems, devices) {
    std::size_t ops = 0;
    for (const Problem* problem : problems_) {
      first_op_.push_back(ops);
      ops += problem->op_count();
    }
    set_rows(ops);
  }
  [[nodiscard]] std::size_t rounds(std::uint32_t problem) const override { return problems_[problem]->op_count() + 1; }
  void sample(std::span<const policy::SampleSlot> slots) const override {
    for (const policy::SampleSlot& slot : slots) {
      policy::Rollout& now = slot.rounds.back();
      now.actions.clear();
      now.observation.clear();
      if (now.round == 0) {
        now.placement.device.assign(problems_[now.problem]->op_count(), 0);
        continue;
      }
      const policy::Rollout& before = slot.rounds[now.round - 1];
      const double time = before.outcome.timed() ? to_seconds(before.outcome.makespan) * 1e3 : 1;
      now.observation = {static_cast<float>(std::log(time))};
      now.actions = {decide(slot, head(now, 0))};
      now.placement.device = before.placement.device;
      now.placement.device[now.round - 1] = now.actions.front();
    }
  }

 private:
  [[nodiscard]] Head head(const policy::Rollout& now, std::uint8_t action) const {
    return {first_op_[now.problem] + now.round - 1, action, now.observation.front()};
  }
  [[nodiscard]] std::vector<Head> heads_of(const policy::Rollout& rollout) const override {
    if (rollout.round == 0) return {};
    return {head(rollout, rollout.actions.front())};
  }
  std::vector<std::size_t> first_op_;
};

// "chain", "episode", or an entry of policies().
inline std::unique_ptr<policy::Policy> make_small_policy(const std::string& name,
                                                         std::span<const policy::PolicyProblem> problems,
                                                         std::uint64_t seed) {
  if (name == "chain") return std::make_unique<ChainPolicy>(problems);
  if (name == "episode") return std::make_unique<EpisodePolicy>(problems);
  return policy::make_policy(name, {}, problems, seed);
}

}  // namespace emplace::test
