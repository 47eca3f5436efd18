// What TensorFlow 1.x adds around the ops of a model.
#pragma once

#include <string>
#include <string_view>

#include "emplace/graph/graph.hpp"

namespace emplace::zoo {

// Types of the ops that a graph has besides an op and its backward ops, separated by blanks. Constants feed the next op
// that is none; other ops form a chain.
struct FrameworkOps {
  std::string forward;   // before the op
  std::string backward;  // after its last backward op, in the gradient; only where it has a gradient
};
FrameworkOps framework_ops(const Graph& graph, const GraphOp& op);

// Besides the read and the update, per variable: its initial value up to the assignment, and its restore (name, slice,
// RestoreV2, which moves nothing in a step, and the assignment).
std::string_view initial_value_ops(std::size_t rank);
inline constexpr std::string_view restore_ops = "Constant Constant Identity Assign";

}  // namespace emplace::zoo
