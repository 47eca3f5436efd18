// The likeliest decisions of a policy of one round, for tests.
#pragma once

#include "emplace/policy/policy.hpp"

namespace emplace::testing {

inline Rollout greedy(const Policy& policy, std::uint32_t problem) {
  Rollout rollout;
  rollout.problem = problem;
  Stream unused{{}};
  const Draw draw{&unused, {&rollout, 1}, true};
  policy.sample({&draw, 1});
  return rollout;
}

}  // namespace emplace::testing
