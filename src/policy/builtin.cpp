// The list of policies. A new policy needs a source file, a line in methods.hpp and a line here.
#include "policy/methods.hpp"

namespace emplace::policy {

namespace {

Registry<PolicyEntry>& registry() {
  static Registry<PolicyEntry> all("policy", {
                                                 post_policy(),
                                                 colocrl_policy(),
                                                 hierarchical_policy(),
                                                 placeto_policy(),
                                                 gdp_policy(),
                                                 hsdag_policy(),
                                             });
  return all;
}

}  // namespace

std::span<const PolicyEntry> policies() { return registry().entries(); }
void register_policy(PolicyEntry entry) { registry().add(std::move(entry)); }

}  // namespace emplace::policy
