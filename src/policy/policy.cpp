#include "emplace/policy/policy.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"

namespace emplace::policy {

MemoryNeed Policy::memory_need(std::uint32_t, std::size_t, std::size_t) const { return {}; }

std::vector<std::string> op_types_of(std::span<const PolicyProblem> problems) {
  std::vector<std::string> types;
  for (const PolicyProblem& each : problems)
    types.insert(types.end(), each.problem->op_types.begin(), each.problem->op_types.end());
  std::ranges::sort(types);
  types.erase(std::ranges::unique(types).begin(), types.end());
  return types;
}

std::unique_ptr<Policy> make_policy(std::string_view name, const ConfigTable& options,
                                    std::span<const PolicyProblem> problems, std::uint64_t seed) {
  const std::vector<std::string> types = op_types_of(problems);
  return find_entry(policies(), name, "policy").make(options, {problems, types, seed});
}

std::size_t Policy::ParameterInfo::size() const {
  std::size_t size = 1;
  for (const std::uint64_t dimension : shape) size *= dimension;
  return size;
}

std::size_t Policy::parameter_count() const {
  std::size_t count = 0;
  for (const ParameterInfo& info : layout()) count += info.size();
  return count;
}

std::vector<std::uint32_t> Policy::expressible_units(std::span<const Rollout>) const { return {}; }
void Policy::express(std::span<Rollout>, const Placement&) const {
  throw BugError("this policy cannot express placements of others");
}
void Policy::mark_reference() { throw BugError("this policy has no exact KL divergence"); }
double Policy::kl() const { throw BugError("this policy has no exact KL divergence"); }
void Policy::add_kl_gradient(double) { throw BugError("this policy has no exact KL divergence"); }
void Policy::fit(std::span<const Rollout>) { throw BugError("this policy has no closed-form fit"); }

}  // namespace emplace::policy
