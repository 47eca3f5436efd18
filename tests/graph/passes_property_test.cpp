// Laws of the passes on random graphs.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>

#include "emplace/graph/op_table.hpp"
#include "emplace/graph/passes.hpp"
#include "small_graphs.hpp"

namespace emplace {
namespace {

using test::add;
using test::node;

int draw(int below) { return *rc::gen::inRange(0, below); }

// 4 x 4 tensors through work, copies, shape arithmetic and weights that exporters hide in Constant and Identity.
Graph random_graph() {
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

TEST(Passes, PruningKeepsEveryOpsCostAndTheGraphAcyclicAndIsDoneAfterOneRun) {
  EXPECT_TRUE(rc::check("prune", [] {
    const Graph graph = random_graph();
    const PassResult pruned = prune(graph);
    pruned.graph.validate();
    RC_ASSERT(pruned.origin.size() == pruned.graph.ops.size());
    std::vector<char> kept(graph.ops.size(), 0);
    for (std::size_t i = 0; i < pruned.graph.ops.size(); ++i) {
      const OpId origin = pruned.origin[i];
      kept[origin.index()] = 1;
      RC_ASSERT(pruned.graph.ops[i].name == graph.ops[origin.index()].name);
      const OpCost now = cost_of(pruned.graph, OpId{i}), was = cost_of(graph, origin);
      RC_ASSERT(now.flops == was.flops);
      RC_ASSERT(now.bytes_written == was.bytes_written);
    }
    // Real work goes only where nothing but folded ops read it.
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
      if (graph.ops[i].type == "MatMul" && graph.tensors[graph.ops[i].outputs[0].index()].consumers.empty())
        RC_ASSERT(kept[i]);
    RC_ASSERT(prune(pruned.graph).graph.ops.size() == pruned.graph.ops.size());
  }));
}

TEST(Passes, TrainingIsAcyclicAndUpdatesEachUsedTrainableParameterOnce) {
  EXPECT_TRUE(rc::check("expand_training", [] {
    const Graph graph = prune(random_graph()).graph;
    const PassResult result = expand_training(graph, {});
    result.graph.validate();
    std::vector<int> updates(graph.parameters.size(), 0);
    for (std::size_t i = 0; i < result.graph.ops.size(); ++i) {
      const GraphOp& op = result.graph.ops[i];
      RC_ASSERT(result.origin[i].is_none() == (op.phase != Phase::forward));
      if (op.phase != Phase::update) continue;
      RC_ASSERT(op.inputs[0].is_parameter());
      ++updates[op.inputs[0].index];
      RC_ASSERT(result.graph.tensors[op.inputs[1].index].shape == graph.parameters[op.inputs[0].index].shape);
    }
    for (std::size_t i = 0; i < graph.parameters.size(); ++i)
      RC_ASSERT(updates[i] == (graph.parameters[i].trainable && !graph.parameters[i].users.empty() ? 1 : 0));
    RC_ASSERT(statistics(result.graph).flops >= statistics(graph).flops);
  }));
}

TEST(Passes, SharingLeavesEachParameterAtMostOneHomeAndCountsItsBytesOnce) {
  EXPECT_TRUE(rc::check("share_parameters", [] {
    Graph graph = prune(random_graph()).graph;
    const bool training = draw(2) == 1;
    if (training) graph = expand_training(graph, {.optimizer = "adam"}).graph;
    const PassResult result = share_parameters(graph);
    result.graph.validate();
    Bytes held = 0, state = 0, parameters = 0, trained = 0;
    for (const GraphParameter& parameter : result.graph.parameters) {
      RC_ASSERT(parameter.users.size() <= 1);
      parameters += *parameter.bytes();
      if (parameter.trainable) trained += *parameter.bytes();
    }
    for (std::size_t i = 0; i < result.graph.ops.size(); ++i) {
      const GraphOp& op = result.graph.ops[i];
      held += resident_bytes(result.graph, OpId{i}) - op.state_bytes;
      state += op.state_bytes;
      if (op.type == "Variable") held += *result.graph.tensors[op.outputs[0].index()].bytes();
    }
    RC_ASSERT(held == parameters);
    if (training) RC_ASSERT(state == 2 * trained);
    RC_ASSERT(statistics(result.graph).flops == statistics(graph).flops);
  }));
}

}  // namespace
}  // namespace emplace
