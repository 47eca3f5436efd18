// The policy that ships with the program: a run folder of the recipe `learned`.
#pragma once

#include <memory>
#include <string>

#include "experiment/run/trained_policy.hpp"

namespace emplace::experiment {

// The environment variable that names another run folder.
inline constexpr const char* policy_variable = "EMPLACE_POLICY";

// The folder that the variable names; else configs/policies/learned, below share/emplace or not, in the nearest folder
// above the program (or, in Python, above the module) that has it. If there is none, the folder where an installed
// program has it.
std::string shipped_policy_folder();

// The policy, or why it cannot be used: a sentence with the path.
struct ShippedPolicy {
  std::shared_ptr<const TrainedPolicy> policy;
  std::string why_not;
};
// Reads a folder once, whatever is in it later.
ShippedPolicy shipped_policy();

// What the policy never saw in its training, as a sentence: types of ops, more devices, kinds of devices. Empty: it saw
// all of it.
std::string unseen_by(const TrainedPolicy& policy, const Problem& problem);

}  // namespace emplace::experiment
