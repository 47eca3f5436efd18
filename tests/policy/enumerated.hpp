// A policy on a problem so small that all decisions can be enumerated, so that expectations are sums.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace::test {

class Enumerated {
 public:
  // Devices for every unit, and before them (the Hierarchical Planner) one of `groups` groups for every unit and a
  // device for each group in place of each unit. After them (GO) one of `levels` levels for every unit.
  Enumerated(const std::string& policy, const std::string& options, const Problem& problem, std::size_t groups = 0,
             std::size_t levels = 0)
      : problem_(problem), list_{{&problem_, make_grouping(problem_, GroupingKind::op)}} {
    policy_ = policy::make_policy(policy, ConfigTable::parse_toml(options, ""), list_, 1);
    Stream random{{.seed = 4}};
    for (float& parameter : policy_->parameters()) parameter += static_cast<float>(random.uniform() - 0.5);
    std::vector<std::size_t> choices(groups > 0 ? problem_.op_count() : 0, groups);
    choices.insert(choices.end(), groups > 0 ? groups : problem_.op_count(), problem_.device_count());
    if (levels > 0) choices.insert(choices.end(), problem_.op_count(), levels);
    std::vector<std::uint8_t> actions(choices.size(), 0);
    for (bool more = true; more;) {
      policy::Rollout& rollout = all_.emplace_back();
      rollout.sample = static_cast<std::uint32_t>(all_.size() - 1);
      rollout.actions = actions;
      more = false;
      for (std::size_t i = actions.size(); i-- > 0 && !more;) {
        if (++actions[i] < choices[i])
          more = true;
        else
          actions[i] = 0;
      }
    }
  }

  policy::Policy& policy() { return *policy_; }
  // Visits every list of decisions; the last decision changes fastest.
  [[nodiscard]] std::vector<double> probabilities() const {
    policy::LogProbabilities log;
    policy_->forward(all_, log);
    std::vector<double> p;
    for (std::size_t s = 0; s < all_.size(); ++s) {
      double sum = 0;
      for (const double value : log.of(s)) sum += value;
      p.push_back(std::exp(sum));
    }
    return p;
  }

  // gradient of sum_P p(P) cost(P) = sum_P cost(P) p(P) grad log p(P), against central differences of the sum.
  void check_gradient_of_expected_cost(const std::vector<double>& cost) {
    ASSERT_EQ(cost.size(), all_.size());
    const std::vector<float> gradient = exact_gradient(cost);
    double largest = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      float& parameter = policy_->parameters()[i];
      const float before = parameter;
      const auto at = [&](float step) {
        parameter = before + step;
        double sum = 0;
        const std::vector<double> p = probabilities();
        for (std::size_t s = 0; s < p.size(); ++s) sum += p[s] * cost[s];
        parameter = before;
        return sum;
      };
      constexpr float step = 1.0F / 64;
      EXPECT_NEAR(gradient[i], (at(step) - at(-step)) * 32, 2e-3) << "parameter " << i;
      largest = std::max(largest, std::abs(static_cast<double>(gradient[i])));
    }
    EXPECT_GT(largest, 0.01);
  }

  // The mean over `updates` of sum (cost - baseline) grad log p / batch over a sampled batch has the exact gradient, to
  // 5 standard errors.
  void check_reinforce(const std::vector<double>& cost, double baseline, std::size_t batch, std::size_t updates) {
    const std::vector<float> exact = exact_gradient(cost);
    const std::span<float> gradient = policy_->gradient();
    std::vector<double> mean(exact.size(), 0.0), square(exact.size(), 0.0);
    std::vector<policy::Rollout> rollouts(batch);
    for (std::size_t update = 1; update <= updates; ++update) {
      for (std::size_t s = 0; s < batch; ++s) {
        Stream stream{{.seed = 6,
                       .purpose = Purpose::sample_placement,
                       .update = update,
                       .index = static_cast<std::uint32_t>(s)}};
        rollouts[s].update = update;
        rollouts[s].sample = static_cast<std::uint32_t>(s);
        const policy::SampleSlot draw{&stream, {&rollouts[s], 1}};
        policy_->sample({&draw, 1});
      }
      policy::LogProbabilities log;
      policy_->forward(rollouts, log);
      std::vector<double> coefficients;
      for (std::size_t s = 0; s < batch; ++s)
        coefficients.insert(coefficients.end(), log.of(s).size(),
                            (cost[number_of(rollouts[s].actions)] - baseline) / static_cast<double>(batch));
      std::ranges::fill(gradient, 0.0F);
      policy_->backward(rollouts, coefficients, 0);
      for (std::size_t i = 0; i < exact.size(); ++i) {
        mean[i] += gradient[i] / static_cast<double>(updates);
        square[i] += static_cast<double>(gradient[i]) * gradient[i] / static_cast<double>(updates);
      }
    }
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double error = std::sqrt(std::max(0.0, square[i] - mean[i] * mean[i]) / static_cast<double>(updates));
      EXPECT_NEAR(mean[i], exact[i], 5 * error + 1e-5) << "parameter " << i << " with baseline " << baseline;
    }
  }

 private:
  std::vector<float> exact_gradient(const std::vector<double>& cost) {
    const std::vector<double> p = probabilities();
    policy::LogProbabilities log;
    policy_->forward(all_, log);
    std::vector<double> coefficients;
    for (std::size_t s = 0; s < all_.size(); ++s)
      coefficients.insert(coefficients.end(), log.of(s).size(), cost[s] * p[s]);
    std::ranges::fill(policy_->gradient(), 0.0F);
    policy_->backward(all_, coefficients, 0);
    return {policy_->gradient().begin(), policy_->gradient().end()};
  }
  [[nodiscard]] std::size_t number_of(const std::vector<std::uint8_t>& actions) const {
    for (std::size_t s = 0; s < all_.size(); ++s)
      if (all_[s].actions == actions) return s;
    ADD_FAILURE() << "not among all decisions";
    return 0;
  }

  Problem problem_;
  std::vector<policy::PolicyProblem> list_;
  std::unique_ptr<policy::Policy> policy_;
  std::vector<policy::Rollout> all_;
};

}  // namespace emplace::test
