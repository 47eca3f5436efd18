#include "formats/onnx/body_cost.hpp"

#include <algorithm>
#include <limits>

#include "emplace/base/error.hpp"
#include "formats/onnx/subgraphs.hpp"
#include "formats/onnx/types.hpp"
#include "graph/ops/op_table.hpp"

namespace emplace::formats {

namespace {

TensorId add_operand(Graph& graph, const std::string& name, const OnnxScope& scope, const std::string& file) {
  const auto type = scope.types.find(name);
  TypeAndShape known;
  try {
    if (type != scope.types.end()) known = type_and_shape(*type->second, file, name);
  } catch (const InputError&) {
    // An element type that has no DType: the size is not known.
  }
  graph.tensors.push_back({name, known.dtype, known.shape, OpId{}, {}});
  return TensorId{graph.tensors.size() - 1};
}

OnnxBodyCost cost_of_node(const onnx::NodeProto& node, const OnnxScope& scope, const std::string& file) {
  Graph graph;
  GraphOp& op = graph.ops.emplace_back();
  op.type = node.domain().empty() || node.domain() == "ai.onnx" ? node.op_type() : node.domain() + "." + node.op_type();
  op.attributes = attributes_of(node);
  for (const std::string& name : node.input())
    op.inputs.push_back(name.empty() ? Operand::none() : Operand::of(add_operand(graph, name, scope, file)));
  for (const std::string& name : node.output())
    if (!name.empty()) op.outputs.push_back(add_operand(graph, name, scope, file));
  const OpCost cost = emplace::cost_of(graph, OpId{0});
  return {cost.flops, static_cast<double>(cost.bytes_read), static_cast<double>(cost.bytes_written), name_of(cost.cls),
          cost.flops, cost.known_type && cost.known_shapes};
}

std::int64_t whole_bytes(double bytes) {
  return static_cast<std::int64_t>(std::clamp(bytes, 0.0, static_cast<double>(total_limit)));
}

}  // namespace

void add_cost(OnnxBodyCost& sum, const OnnxBodyCost& cost, double times) {
  sum.flops += times * cost.flops;
  sum.bytes_read += times * cost.bytes_read;
  sum.bytes_written += times * cost.bytes_written;
  sum.is_complete = sum.is_complete && cost.is_complete;
  if (times * cost.class_flops > sum.class_flops) {
    sum.class_flops = times * cost.class_flops;
    sum.op_class = cost.op_class;
  }
}

OnnxBodyCost cost_of_nodes(const onnx::GraphProto& graph, const OnnxScope& scope, const std::string& file) {
  OnnxBodyCost sum;
  for (const onnx::NodeProto& node : graph.node()) {
    if (!has_subgraph(node)) {
      add_cost(sum, cost_of_node(node, scope, file), 1);
    } else if (const auto inner = scope.costs.find(cost_key(node)); inner != scope.costs.end()) {
      add_cost(sum, inner->second, 1);
    } else {
      sum.is_complete = false;
    }
  }
  return sum;
}

void set_body_cost(GraphOp& op, const OnnxBodyCost& cost) {
  op.attributes["body_flops"] = std::min(cost.flops, std::numeric_limits<double>::max());
  op.attributes["body_bytes_read"] = whole_bytes(cost.bytes_read);
  op.attributes["body_bytes_written"] = whole_bytes(cost.bytes_written);
  op.attributes["body_class"] = cost.op_class;
  op.attributes["body_incomplete"] = std::int64_t{cost.is_complete ? 0 : 1};
}

const std::string& cost_key(const onnx::NodeProto& node) {
  static const std::string none;
  const auto found = std::ranges::find_if(node.output(), [](const std::string& name) { return !name.empty(); });
  return found == node.output().end() ? none : *found;
}

}  // namespace emplace::formats
