#include "graph/ops/inputs.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace emplace {

bool stands_for_input(const GraphOp& op) {
  constexpr std::array<std::string_view, 6> types = {
      "Parameter", "Input", "Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "_Arg"};
  return std::ranges::find(types, op.type) != types.end();
}

bool brings_data(const GraphOp& op) {
  constexpr std::array<std::string_view, 5> types = {"IteratorGetNext", "IteratorGetNextSync", "QueueDequeueV2",
                                                     "QueueDequeueManyV2", "QueueDequeueUpToV2"};
  return std::ranges::find(types, op.type) != types.end();
}

std::vector<GraphInput> inputs_of(const Graph& graph) {
  std::vector<GraphInput> inputs;
  for (const GraphTensor& tensor : graph.tensors) {
    if (tensor.producer.is_none()) {
      inputs.push_back({tensor.name, &tensor});
      continue;
    }
    const GraphOp& op = graph.ops[tensor.producer.index()];
    if (stands_for_input(op)) inputs.push_back({op.name, &tensor});
    if (brings_data(op)) inputs.push_back({tensor.name, &tensor});
  }
  return inputs;
}

}  // namespace emplace
