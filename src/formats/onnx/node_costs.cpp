#include "formats/onnx/node_costs.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "emplace/base/error.hpp"
#include "formats/onnx/subgraphs.hpp"
#include "formats/onnx/types.hpp"

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

// The tensors of a sub-graph that are known before it runs, so that a runtime folds the nodes that give them when it
// loads the model: weights, what shape inference has computed, and what follows from such tensors alone.
class KnownBefore {
 public:
  explicit KnownBefore(const OnnxScope& scope) : scope_(scope) {}

  // Whether all outputs of the node are such tensors. The nodes must be asked about in their order.
  bool gives(const onnx::NodeProto& node) {
    const std::string& type = node.op_type();
    const bool repeatable = !has_subgraph(node) && node.input_size() > 0 && !type.starts_with("Random") &&
                            type != "Multinomial" && type != "Bernoulli";
    const bool follows = repeatable && std::ranges::all_of(node.input(), [&](const auto& name) { return has(name); });
    if (follows) known_.insert(node.output().begin(), node.output().end());
    return follows || std::ranges::all_of(node.output(), [&](const auto& name) { return has(name); });
  }

 private:
  [[nodiscard]] bool has(const std::string& name) const {
    if (name.empty() || known_.contains(name) || scope_.data.contains(name)) return true;
    const auto value = scope_.folded.find(name);
    return value != scope_.folded.end() && value->second != nullptr && value->second->is_known();
  }

  const OnnxScope& scope_;
  std::unordered_set<std::string_view> known_;
};

BodyCost cost_of_node(const onnx::NodeProto& node, const OnnxScope& scope, const std::string& file) {
  Graph graph;
  GraphOp& op = graph.ops.emplace_back();
  op.type = node.domain().empty() || node.domain() == "ai.onnx" ? node.op_type() : node.domain() + "." + node.op_type();
  op.attributes = attributes_of(node);
  for (const std::string& name : node.input())
    op.inputs.push_back(name.empty() ? Operand::none() : Operand::of(add_operand(graph, name, scope, file)));
  for (const std::string& name : node.output())
    if (!name.empty()) op.outputs.push_back(add_operand(graph, name, scope, file));
  return body_cost_of(graph, OpId{0});
}

}  // namespace

BodyCost cost_of_nodes(const onnx::GraphProto& graph, const OnnxScope& scope, const std::string& file) {
  BodyCost sum;
  KnownBefore known(scope);
  for (const onnx::NodeProto& node : graph.node()) {
    if (known.gives(node)) continue;
    if (!has_subgraph(node)) {
      add_cost(sum, cost_of_node(node, scope, file), 1);
    } else if (const auto inner = scope.costs.find(cost_key(node)); inner != scope.costs.end()) {
      add_cost(sum, inner->second, 1);
      ++sum.launches;
    } else {
      sum.is_complete = false;
    }
  }
  return sum;
}

const std::string& cost_key(const onnx::NodeProto& node) {
  static const std::string none;
  const auto found = std::ranges::find_if(node.output(), [](const std::string& name) { return !name.empty(); });
  return found == node.output().end() ? none : *found;
}

}  // namespace emplace::formats
