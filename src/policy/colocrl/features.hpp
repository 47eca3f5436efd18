// Input features of ColocRL's encoder for each group of ops (docs/papers/colocrl.md, section 2.2).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "policy/common/op_features.hpp"

namespace emplace::policy {

struct ColocrlFeatures {
  Lists types;              // M rows: the type ids of the group's ops
  std::vector<float> rows;  // M x (S + M): sums of shape vectors; 1 in column h if an edge joins it and group h
};

ColocrlFeatures colocrl_features(const PolicyProblem& problem, std::span<const std::string> op_types,
                                 const ShapeSlots& slots);

}  // namespace emplace::policy
