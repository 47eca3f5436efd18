// What the tests of the models count.
#pragma once

#include <string>

#include "emplace/base/error.hpp"
#include "graph/ops/op_table.hpp"
#include "zoo/zoo.hpp"

namespace emplace::zoo {

inline std::int64_t trainable_parameters(const Graph& graph) {
  std::int64_t sum = 0;
  for (const GraphParameter& parameter : graph.parameters)
    if (parameter.trainable) sum += *parameter.shape.elements();
  return sum;
}

inline double multiply_adds(const Graph& graph) { return statistics(graph).flops / 2; }

inline std::size_t count_of(const Graph& graph, const std::string& type) {
  std::size_t count = 0;
  for (const GraphOp& op : graph.ops) count += op.type == type ? 1 : 0;
  return count;
}

inline Shape shape_called(const Graph& graph, const std::string& name) {
  for (const GraphTensor& tensor : graph.tensors)
    if (tensor.name == name) return tensor.shape;
  return {};
}

inline std::int64_t model_channels(const Graph& graph, const std::string& image) {
  return shape_called(graph, image).dims.at(1);
}

// Why a specification is refused.
inline std::string refusal_of(const std::string& specification) {
  try {
    (void)build_zoo_model(specification);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace emplace::zoo
