#include "emplace/policy/policy.hpp"

#include "emplace/base/error.hpp"

namespace emplace {

void Policy::mark_reference() { throw BugError("this policy has no exact KL divergence"); }
double Policy::kl() const { throw BugError("this policy has no exact KL divergence"); }
void Policy::add_kl_gradient(double) { throw BugError("this policy has no exact KL divergence"); }
void Policy::fit(std::span<const Rollout>) { throw BugError("this policy has no closed-form fit"); }

}  // namespace emplace
