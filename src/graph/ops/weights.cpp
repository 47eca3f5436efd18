#include "graph/ops/weights.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace emplace {

namespace {

constexpr int longest_chain = 8;

bool may_be_weight(const GraphParameter& parameter) {
  const bool quantised = bytes_of(parameter.dtype) == 1 && parameter.dtype != DType::boolean;
  return !parameter.folded && !parameter.no_weight && !parameter.shape.dims.empty() &&
         (is_floating(parameter.dtype) || quantised);
}

// The parameter that the operand is, perhaps through ops that only pass it on, such as the Const layers of OpenVINO and
// TensorFlow's reads of variables.
Operand source_of(const Graph& graph, Operand operand) {
  constexpr std::array<std::string_view, 6> passing = {"Constant", "Identity",       "Cast",
                                                       "Variable", "ReadVariableOp", "VarHandleOp"};
  for (int step = 0; step < longest_chain && operand.is_tensor(); ++step) {
    const OpId producer = graph.tensors[operand.index].producer;
    if (producer.is_none()) break;
    const GraphOp& op = graph.ops[producer.index()];
    if (op.inputs.empty() || std::ranges::find(passing, op.type) == passing.end()) break;
    operand = op.inputs[0];
  }
  return operand;
}

}  // namespace

std::vector<bool> find_weights(const Graph& graph) {
  std::vector<bool> weights(graph.parameters.size());
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = may_be_weight(graph.parameters[i]);
  for (const GraphOp& op : graph.ops) {
    const bool normalises = op.type == "BatchNormalization";  // mean and variance are operands 3 and 4
    if (!normalises && op.type != "Resize" && op.type != "Upsample") continue;
    for (std::size_t i = normalises ? 3 : 1; i < std::min<std::size_t>(op.inputs.size(), 5); ++i)
      if (const Operand source = source_of(graph, op.inputs[i]); source.is_parameter()) weights[source.index] = false;
  }
  return weights;
}

}  // namespace emplace
