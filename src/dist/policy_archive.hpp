// The training's policy as bytes for its broadcast (Boost archive): for messages only, never on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dist/clients.hpp"
#include "emplace/dist/world.hpp"
#include "emplace/policy/policy.hpp"

namespace emplace::dist {

std::vector<std::byte> pack(const PolicyPlan& plan);

// What a worker makes from those bytes: the policy and its problems. The list `problems` (the master's problems, in the
// same order) must outlive it.
struct RestoredPolicy {
  std::vector<policy::PolicyProblem> problems;
  std::unique_ptr<policy::Policy> policy;  // points into `problems`
};
RestoredPolicy restore_policy(std::span<const std::byte> message, std::span<const Problem* const> problems);

}  // namespace emplace::dist
