// A training of a policy with a network on one small problem, for tests: options as TOML.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "learn/trainer.hpp"
#include "tests/policy/greedy.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::test {

struct NetworkTraining {
  NetworkTraining(Problem of, const std::string& policy_name, const std::string& policy_options,
                  const std::string& learner_options, std::uint64_t seed, GroupingKind kind = GroupingKind::op,
                  const std::string& learner_name = "reinforce", Schedule schedule = Schedule::fifo)
      : problem(std::move(of)),
        list{{&problem, make_grouping(problem, kind)}},
        policy(policy::make_policy(policy_name, ConfigTable::parse_toml(policy_options, "policy"), list, seed)),
        learner(find_entry(learn::learners(), learner_name, "learner")
                    .make(ConfigTable::parse_toml(learner_options, "learner"), {list})),
        evaluator(evaluate::make_local_evaluator(std::vector<const Problem*>{&problem}, schedule)),
        trainer(*policy, *learner, *evaluator, list,
                {.seed = seed, .schedule = schedule, .budget_used = [all = budget](std::uint64_t done, std::uint64_t) {
                   return static_cast<double>(done) / *all;
                 }}) {}

  // Mean step time of the feasible samples of the last `last` of `updates` updates, ms. Schedules are of all of them.
  double run(std::size_t updates, std::size_t last) {
    *budget = static_cast<double>(trainer.updates() + updates);
    double sum = 0;
    feasible_share = 0;
    for (std::size_t update = 1; update <= updates; ++update) {
      const learn::UpdateReport report = trainer.step();
      if (update <= updates - last) continue;
      sum += 1e3 * report.mean_seconds;
      feasible_share += report.feasible_share / static_cast<double>(last);
    }
    return sum / static_cast<double>(last);
  }
  // Of the likeliest decisions.
  Ticks greedy_makespan() {
    const policy::Rollout likeliest = greedy(*policy, 0);
    return evaluator->evaluate(std::vector<evaluate::EvaluationJob>{{0, &likeliest.placement}}).front().makespan;
  }

  Problem problem;
  std::vector<policy::PolicyProblem> list;
  std::unique_ptr<policy::Policy> policy;
  std::unique_ptr<learn::Learner> learner;
  std::unique_ptr<evaluate::Evaluator> evaluator;
  std::shared_ptr<double> budget = std::make_shared<double>(1);  // updates
  learn::Trainer trainer;
  double feasible_share = 0;  // of those last samples
};

}  // namespace emplace::test
