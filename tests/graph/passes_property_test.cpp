// Laws of the passes on random graphs.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/graph/random_graph.hpp"

namespace emplace::passes_property_test {
namespace {

using test::draw;
using test::random_graph;

TEST(Passes, PruningKeepsEveryOpsCostAndTheGraphAcyclicAndIsDoneAfterOneRun) {
  EXPECT_TRUE(rc::check("prune", [] {
    const Graph graph = random_graph();
    const PassResult pruned = prune(graph);
    pruned.graph.validate();
    const std::vector<std::vector<OpId>> origins = pruned.origins();
    std::vector<char> kept(graph.ops.size(), 0);
    for (std::size_t i = 0; i < pruned.graph.ops.size(); ++i) {
      RC_ASSERT(origins[i].size() == 1U);
      const OpId origin = origins[i].front();
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
    const std::vector<std::vector<OpId>> origins = result.origins();
    std::vector<int> updates(graph.parameters.size(), 0);
    for (std::size_t i = 0; i < result.graph.ops.size(); ++i) {
      const GraphOp& op = result.graph.ops[i];
      RC_ASSERT(origins[i].empty() == (op.phase != Phase::forward));
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
}  // namespace emplace::passes_property_test
