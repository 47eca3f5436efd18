// Ops of TensorFlow files that hold a parameter, and those that hand its value on.
#pragma once

#include "emplace/graph/graph.hpp"

namespace emplace {

inline bool is_variable(const GraphOp& op) { return op.type == "Variable" || op.type == "VarHandleOp"; }
inline bool reads_variable(const GraphOp& op) { return op.type == "Identity" || op.type == "ReadVariableOp"; }

}  // namespace emplace
