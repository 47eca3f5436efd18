// A training of a policy with a network on one small problem, for tests: options as TOML.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "emplace/learn/trainer.hpp"
#include "policy/greedy.hpp"
#include "problem/tiny.hpp"

namespace emplace::testing {

struct NetworkTraining {
  NetworkTraining(Problem of, const std::string& policy_name, const std::string& policy_options,
                  const std::string& learner_options, std::uint64_t seed, GroupingKind kind = GroupingKind::op,
                  const std::string& learner_name = "reinforce")
      : problem(std::move(of)),
        list{{&problem, make_grouping(problem, kind)}},
        policy(make_policy(policy_name, ConfigTable::parse_toml(policy_options, "policy"), list, seed)),
        learner(find_entry(learners(), learner_name, "learner")
                    .make(ConfigTable::parse_toml(learner_options, "learner"), {list})),
        evaluator(make_local_evaluator(std::vector<const Problem*>{&problem}, Schedule::fifo)),
        trainer(*policy, *learner, *evaluator, list, {.seed = seed}) {}

  // Mean step time of the feasible samples of the last `last` of so many updates, ms.
  double run(std::size_t updates, std::size_t last) {
    double sum = 0;
    feasible_share = 0;
    for (std::size_t update = 1; update <= updates; ++update) {
      const UpdateReport report = trainer.step();
      if (update <= updates - last) continue;
      sum += 1e3 * report.mean_seconds;
      feasible_share += report.feasible_share / static_cast<double>(last);
    }
    return sum / static_cast<double>(last);
  }
  // Of the likeliest decisions.
  Ticks greedy_makespan() {
    const Rollout likeliest = greedy(*policy, 0);
    return evaluator->evaluate(std::vector<EvaluationJob>{{0, &likeliest.placement}}).front().makespan;
  }

  Problem problem;
  std::vector<PolicyProblem> list;
  std::unique_ptr<Policy> policy;
  std::unique_ptr<Learner> learner;
  std::unique_ptr<Evaluator> evaluator;
  Trainer trainer;
  double feasible_share = 0;  // of those last samples
};

}  // namespace emplace::testing
