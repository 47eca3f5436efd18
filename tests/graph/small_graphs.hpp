// Graphs that several tests of passes start from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace::test {

inline GraphOp node(std::string name, std::string type, std::vector<Operand> inputs) {
  GraphOp op;
  op.name = std::move(name);
  op.type = std::move(type);
  op.inputs = std::move(inputs);
  return op;
}

// An op with one f32 output named after it.
inline Operand add(Graph& graph, GraphOp op, Shape shape, DType dtype = DType::f32) {
  const std::string name = op.name;
  const OpId id = graph.add_op(std::move(op));
  return Operand::of(graph.add_output(id, name, dtype, std::move(shape)));
}

inline Operand add(Graph& graph, std::string name, std::string type, std::vector<Operand> inputs, Shape shape,
                   DType dtype = DType::f32) {
  return add(graph, node(std::move(name), std::move(type), std::move(inputs)), std::move(shape), dtype);
}

inline std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphOp& op : graph.ops) names.push_back(op.name);
  return names;
}

inline std::vector<const GraphOp*> ops_of_type(const Graph& graph, const std::string& type) {
  std::vector<const GraphOp*> found;
  for (const GraphOp& op : graph.ops)
    if (op.type == type) found.push_back(&op);
  return found;
}

inline const GraphOp* find_op(const Graph& graph, const std::string& name) {
  for (const GraphOp& op : graph.ops)
    if (op.name == name) return &op;
  return nullptr;
}

}  // namespace emplace::test
