// The ops that TensorFlow 1.x adds around the ops of a model.
#pragma once

#include <string>
#include <string_view>

#include "emplace/graph/graph.hpp"

namespace emplace::zoo {

// Types of the ops that TensorFlow adds for an op, separated by blanks. Constants are inputs of the next op that is no
// constant; the other ops form a chain.
struct FrameworkOps {
  std::string forward;   // before the op
  std::string backward;  // after its last backward op; added only if the op has a gradient
};
FrameworkOps framework_ops(const Graph& graph, const GraphOp& op);

// The ops that each variable has in addition to the read and the update: its initial value up to the assignment, and
// its restore (name, slice, RestoreV2, which moves no data in a step, and the assignment).
std::string_view initial_value_ops(std::size_t rank);
inline constexpr std::string_view restore_ops = "Constant Constant Identity Assign";

}  // namespace emplace::zoo
