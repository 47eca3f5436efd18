// The sub-graphs of control-flow nodes (If, Loop, Scan): what they read from outside and which weights they hold.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace emplace::formats {

// The names that a sub-graph, or one inside it, reads but does not define; each once, in the order of first use.
std::vector<std::string> names_from_outside(const onnx::GraphProto& graph);
// The same for all sub-graphs of a node. Empty for an ordinary node.
std::vector<std::string> names_from_outside(const onnx::NodeProto& node);

bool has_subgraph(const onnx::NodeProto& node);

// Every initializer and Constant in the sub-graphs of a node, at any depth.
std::vector<const onnx::TensorProto*> weights_inside(const onnx::NodeProto& node);

}  // namespace emplace::formats
