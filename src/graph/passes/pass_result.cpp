#include <utility>

#include "emplace/base/error.hpp"
#include "graph/passes/passes.hpp"

namespace emplace {

std::vector<std::vector<OpId>> PassResult::origins() const {
  std::vector<std::vector<OpId>> of_op(graph.ops.size());
  for (std::size_t i = 0; i < became.size(); ++i)
    if (!became[i].is_none()) of_op[became[i].index()].emplace_back(i);
  return of_op;
}

PassResult followed_by(const PassResult& first, PassResult second) {
  EMPLACE_CHECK(second.became.size() == first.graph.ops.size(), "the second pass ran on another graph");
  std::vector<OpId> became = first.became;
  for (OpId& now : became)
    if (!now.is_none()) now = second.became[now.index()];
  second.became = std::move(became);
  return second;
}

ParameterId add_parameter_like(Graph& graph, const GraphParameter& parameter, Shape shape) {
  const ParameterId id = graph.add_parameter(parameter.name, parameter.dtype, std::move(shape), parameter.trainable);
  graph.parameters[id.index()].folded = parameter.folded;
  graph.parameters[id.index()].no_weight = parameter.no_weight;
  graph.parameters[id.index()].stored_bytes = parameter.stored_bytes;
  return id;
}

}  // namespace emplace
