// What ColocRL's encoder reads of each group of ops (docs/papers/colocrl.md, section 2.2).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "policy/common/op_features.hpp"

namespace emplace::policy {

struct ColocrlFeatures {
  Lists types;              // M rows: the type ids of the group's ops
  std::vector<float> rows;  // M x (S + M): sums of shape vectors; 1 at h where an edge joins the groups either way
};

ColocrlFeatures colocrl_features(const PolicyProblem& problem, std::span<const std::string> op_types,
                                 const ShapeSlots& slots);

}  // namespace emplace::policy
