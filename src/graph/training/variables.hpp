// Ops of TensorFlow files that hold a parameter, and those that hand its value on.
#pragma once

#include "emplace/graph/graph.hpp"

namespace emplace {

inline bool is_variable(const GraphOp& op) { return op.type == "Variable" || op.type == "VarHandleOp"; }
inline bool reads_variable(const GraphOp& op) { return op.type == "Identity" || op.type == "ReadVariableOp"; }

// The same for a variable in a loop or a branch: every output is the first operand.
inline bool hands_on(const GraphOp& op) {
  for (const char* type : {"Enter", "RefEnter", "Switch", "RefSwitch"})
    if (op.type == type) return true;
  return reads_variable(op);
}

}  // namespace emplace
