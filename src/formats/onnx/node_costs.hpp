// What the sub-graphs of If, Loop and Scan cost.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>

#include "formats/body_cost.hpp"
#include "formats/onnx/scope.hpp"

namespace emplace::formats {

// The sum over the nodes of a sub-graph, whose types and inner costs are in `scope`, without those that runtimes fold
// when they load the model.
BodyCost cost_of_nodes(const onnx::GraphProto& graph, const OnnxScope& scope, const std::string& file);

// The name under which a scope has the cost of a node: its first output that has a name; "" if there is none.
const std::string& cost_key(const onnx::NodeProto& node);

}  // namespace emplace::formats
