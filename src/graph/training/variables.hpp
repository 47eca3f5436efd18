// Recognises ops of TensorFlow files that hold a parameter, and ops that pass its value on.
#pragma once

#include "emplace/graph/graph.hpp"

namespace emplace {

inline bool is_variable(const GraphOp& op) { return op.type == "Variable" || op.type == "VarHandleOp"; }
inline bool reads_variable(const GraphOp& op) { return op.type == "Identity" || op.type == "ReadVariableOp"; }

// Whether the op passes on its first operand: reads of a variable, also into a loop or a branch. Every output has the
// value of the first operand.
inline bool hands_on(const GraphOp& op) {
  for (const char* type : {"Enter", "RefEnter", "Switch", "RefSwitch"})
    if (op.type == type) return true;
  return reads_variable(op);
}

}  // namespace emplace
