// What the sub-graphs of one control-flow op cost, and how a reader states it to the op table.
#pragma once

#include <string>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

struct BodyCost {
  double flops = 0, bytes_read = 0, bytes_written = 0;
  double launches = 0;             // of kernels: ops that do work, each as often as it runs
  std::string op_class = "other";  // that of the op with the most FLOPs
  double class_flops = 0;          // the FLOPs of that op
  bool is_complete = true;         // false: a size, a type or the number of trips is not known
};

// The cost of one op of a graph, without that of sub-graphs that it has.
BodyCost body_cost_of(const Graph& graph, OpId op);

// Adds `times` times the cost.
void add_cost(BodyCost& sum, const BodyCost& cost, double times);

// The attributes from which the op table takes the cost of a control-flow op.
void set_body_cost(GraphOp& op, const BodyCost& cost);

}  // namespace emplace::formats
