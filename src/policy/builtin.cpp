// The list of policies: a new one is a source file, a line in methods.hpp and a line here.
#include "policy/methods.hpp"

namespace emplace::policy {

std::span<const PolicyEntry> policies() {
  static const PolicyEntry entries[] = {
      post_policy(), colocrl_policy(), hierarchical_policy(), placeto_policy(), gdp_policy(), hsdag_policy(),
  };
  return entries;
}

}  // namespace emplace::policy
