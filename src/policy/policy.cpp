#include "emplace/policy/policy.hpp"

#include "emplace/base/error.hpp"

namespace emplace {

double Policy::kl(std::span<const float>) const { throw BugError("this policy has no exact KL divergence"); }
void Policy::add_kl_gradient(std::span<const float>, double) {
  throw BugError("this policy has no exact KL divergence");
}
void Policy::fit(std::span<const Rollout>) { throw BugError("this policy has no closed-form fit"); }

}  // namespace emplace
