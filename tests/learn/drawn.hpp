// Evaluated samples of a policy whose parameters have been moved from their start, for tests.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "learn/sampling.hpp"
#include "tests/learn/small_policies.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::test {

// Chain-5 and fork-join, `samples` of each.
struct Drawn {
  Drawn(const std::string& policy_name, std::size_t samples, std::uint64_t seed = 3) {
    const Problem* const pointers[] = {&chain, &fork};
    evaluator = evaluate::make_local_evaluator(pointers, Schedule::fifo);
    policy = make_small_policy(policy_name, list, 1);
    move_parameters(0.5, 99);
    learn::sample_rollouts(*policy, *evaluator, list, {.seed = seed, .samples = samples}, rollouts);
  }
  // Moves every finite parameter by up to `size`.
  void move_parameters(double size, std::uint64_t seed) {
    Stream random{{.seed = seed}};
    for (float& parameter : policy->parameters()) parameter += static_cast<float>(size * (2 * random.uniform() - 1));
  }

  Problem chain = chain_5(2), fork = fork_join(2);
  std::vector<policy::PolicyProblem> list = {{&chain, make_grouping(chain, GroupingKind::op)},
                                             {&fork, make_grouping(fork, GroupingKind::op)}};
  std::unique_ptr<evaluate::Evaluator> evaluator;
  std::unique_ptr<policy::Policy> policy;
  std::vector<policy::Rollout> rollouts;
};

}  // namespace emplace::test
