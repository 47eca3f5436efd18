// The likeliest decisions of a policy of one round, for tests.
#pragma once

#include "emplace/policy/policy.hpp"

namespace emplace::test {

inline policy::Rollout greedy(const policy::Policy& policy, std::uint32_t problem) {
  policy::Rollout rollout;
  rollout.problem = problem;
  Stream unused{{}};
  const policy::SampleSlot draw{&unused, {&rollout, 1}, true};
  policy.sample({&draw, 1});
  return rollout;
}

}  // namespace emplace::test
