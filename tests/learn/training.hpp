// A training in one process, for tests.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "learn/sampling.hpp"
#include "learn/trainer.hpp"
#include "tests/learn/small_policies.hpp"
#include "tests/policy/greedy.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::test {

inline ConfigTable table(std::initializer_list<std::pair<const char*, ConfigValue>> values) {
  ConfigTable result("test");
  for (const auto& [key, value] : values) result.set(key, value);
  return result;
}
inline ConfigValue whole(std::int64_t value) { return {value, "test"}; }
inline ConfigValue number(double value) { return {value, "test"}; }
inline ConfigValue text(const char* value) { return {std::string(value), "test"}; }
inline ConfigValue flag(bool value) { return {value, "test"}; }

// TrainerOptions::budget_used of a training of so many updates.
using BudgetUsed = std::function<double(std::uint64_t, std::uint64_t)>;
inline BudgetUsed budget_of(std::uint64_t updates) {
  return [=](std::uint64_t done, std::uint64_t) { return static_cast<double>(done) / static_cast<double>(updates); };
}

// A policy (Post's unless named) on the given problems (units: single ops) with any learner.
struct Training {
  Training(std::vector<Problem> list, const std::string& learner_name, const ConfigTable& options = {},
           std::uint64_t seed = 1, Schedule schedule = Schedule::fifo, const std::string& policy_name = "post",
           const BudgetUsed& budget_used = {})
      : schedule_(schedule) {
    for (Problem& problem : list) problems.push_back(std::move(problem));
    std::vector<const Problem*> pointers;
    for (const Problem& problem : problems) {
      policy_problems.push_back({&problem, make_grouping(problem, GroupingKind::op)});
      pointers.push_back(&problem);
    }
    policy = make_small_policy(policy_name, policy_problems, seed);
    learner = find_entry(learn::learners(), learner_name, "learner").make(options, {policy_problems, seed});
    evaluator = evaluate::make_local_evaluator(pointers, schedule);
    trainer = std::make_unique<learn::Trainer>(
        *policy, *learner, *evaluator, policy_problems,
        learn::TrainerOptions{.seed = seed, .schedule = schedule, .budget_used = budget_used});
  }
  Training(Problem problem, const std::string& learner_name, const ConfigTable& options = {}, std::uint64_t seed = 1,
           const std::string& policy_name = "post")
      : Training(one(std::move(problem)), learner_name, options, seed, Schedule::fifo, policy_name) {}

  // The learner's own number of updates; the best makespan of the first problem.
  Ticks run() {
    while (trainer->updates() < learner->default_updates()) trainer->step();
    return trainer->best().front().outcome.makespan;
  }
  // The first problem's likeliest decisions, in the last round. On a problem so small that the samples of any policy
  // contain the optimum, these say what was learned, and the best sample does not.
  [[nodiscard]] policy::Rollout likeliest() const {
    std::vector<policy::Rollout> rounds;
    learn::sample_rollouts(*policy, *evaluator, std::span(policy_problems).first(1),
                           {.greedy = true, .schedule = schedule_}, rounds);
    return rounds.back();
  }

  std::deque<Problem> problems;
  std::vector<policy::PolicyProblem> policy_problems;
  std::unique_ptr<policy::Policy> policy;
  std::unique_ptr<learn::Learner> learner;
  std::unique_ptr<evaluate::Evaluator> evaluator;
  std::unique_ptr<learn::Trainer> trainer;

 private:
  Schedule schedule_;

  static std::vector<Problem> one(Problem problem) {
    std::vector<Problem> list;
    list.push_back(std::move(problem));
    return list;
  }
};

// A rollout with these actions that is feasible and takes `milliseconds`.
inline policy::Rollout timed(std::vector<std::uint8_t> actions, double milliseconds) {
  policy::Rollout rollout;
  rollout.actions = std::move(actions);
  rollout.outcome.makespan = static_cast<Ticks>(milliseconds * ms);
  return rollout;
}

}  // namespace emplace::test
