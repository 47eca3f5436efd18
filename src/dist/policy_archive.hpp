// The training's policy as bytes for the one broadcast (Boost archive): in flight only, never on disk.
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

// What a worker makes of it: the policy, and its problems, which `problems` (the master's list, in its order) outlive.
struct RestoredPolicy {
  std::vector<policy::PolicyProblem> problems;
  std::unique_ptr<policy::Policy> policy;  // looks into `problems`
};
RestoredPolicy restore_policy(std::span<const std::byte> message, std::span<const Problem* const> problems);

}  // namespace emplace::dist
