// A random graph for laws of passes; to be called inside rc::check.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "graph/passes/passes.hpp"
#include "tests/graph/small_graphs.hpp"

namespace emplace::test {

inline int draw(int below) { return *rc::gen::inRange(0, below); }

// 4 x 4 tensors through work, copies, shape arithmetic and weights that exporters hide in Constant and Identity.
inline Graph random_graph() {
  Graph graph;
  const Shape square{4, 4};
  std::vector<Operand> tensors{Operand::of(graph.add_input("x", DType::f32, square))};
  std::vector<Operand> weights{Operand::of(graph.add_parameter("w", DType::f32, square))};
  const auto tensor = [&] { return tensors[static_cast<std::size_t>(draw(static_cast<int>(tensors.size())))]; };
  const auto weight = [&] {
    const std::string name = "w" + std::to_string(graph.parameters.size()) + "_" + std::to_string(graph.ops.size());
    switch (draw(4)) {
      case 0: return weights[static_cast<std::size_t>(draw(static_cast<int>(weights.size())))];
      case 1: return add(graph, name, "Constant", {}, square);
      case 2: return add(graph, name, "Identity", {weights[0]}, square);
      default: weights.push_back(Operand::of(graph.add_parameter(name, DType::f32, square))); return weights.back();
    }
  };
  const int count = draw(30);
  for (int i = 0; i < count; ++i) {
    const std::string name = "op" + std::to_string(i);
    switch (draw(9)) {
      case 0: tensors.push_back(add(graph, name, "MatMul", {tensor(), weight()}, square)); break;
      case 1: tensors.push_back(add(graph, name, "Add", {tensor(), tensor()}, square)); break;
      case 2: tensors.push_back(add(graph, name, "Mul", {tensor(), weight()}, square)); break;
      case 3: tensors.push_back(add(graph, name, "Tanh", {tensor()}, square)); break;
      case 4: tensors.push_back(add(graph, name, "Identity", {tensor()}, square)); break;
      case 5: tensors.push_back(add(graph, name, "Dropout", {tensor()}, square)); break;
      case 6: {
        const Operand shape = add(graph, name + "/shape", "Shape", {tensor()}, {2}, DType::i64);
        tensors.push_back(add(graph, name, "Reshape", {tensor(), shape}, square));
        break;
      }
      case 7: {
        const OpId split = graph.add_op(node(name, "Split", {tensor()}));
        const Operand top = Operand::of(graph.add_output(split, name, DType::f32, {2, 4}));
        const Operand bottom = Operand::of(graph.add_output(split, name + ":1", DType::f32, {2, 4}));
        tensors.push_back(add(graph, name + "/concat", "Concat", {bottom, top}, square));
        break;
      }
      default: tensors.push_back(add(graph, name, "Unheard", {tensor(), tensor()}, square));
    }
  }
  // One weight is surely used, so that there is something to train.
  add(graph, "last", "MatMul", {tensor(), weights[0]}, square);
  return graph;
}

// The same after pruning, as inference graph or as training step, with some layers, groups and control dependencies.
inline Graph random_step() {
  Graph graph = prune(random_graph()).graph;
  if (draw(2) == 1) graph = expand_training(graph, {.optimizer = "adam"}).graph;
  const int layers = 1 + draw(4);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    GraphOp& op = graph.ops[i];
    if (draw(4) > 0) op.layer = "layer" + std::to_string(draw(layers));
    if (draw(6) == 0) op.colocate = "group" + std::to_string(draw(3));
    if (i > 0 && draw(8) == 0) op.after.push_back(OpId{static_cast<std::size_t>(draw(static_cast<int>(i)))});
  }
  return graph;
}

}  // namespace emplace::test
