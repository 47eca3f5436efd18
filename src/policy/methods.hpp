// The entries that builtin.cpp lists; each is defined in its policy's source file.
#pragma once

#include "emplace/policy/policy.hpp"

namespace emplace::policy {

PolicyEntry post_policy();
PolicyEntry colocrl_policy();
PolicyEntry hierarchical_policy();
PolicyEntry placeto_policy();
PolicyEntry gdp_policy();
PolicyEntry hsdag_policy();

}  // namespace emplace::policy
