// The three details of a model: `op` as it is built, `layer` and `framework` by passes over that graph.
#pragma once

#include <vector>

#include "emplace/graph/passes.hpp"
#include "model_builder.hpp"

namespace emplace {

// detail = "layer". The forward ops of a cell become one op, and so do their backward ops; each other op becomes one of
// its own. Types are `<Class>Layer`, after the class with the most FLOPs (bytes, where nothing computes) among the
// members, whose FLOPs and traffic are summed into attributes. Parameters that the same cells use become one, with one
// update. Tensors between members vanish. `cells` speaks of the forward ops, which come first in `graph`.
struct MergeResult {
  Graph graph;
  std::vector<OpId> merged_into;  // per op of the graph before: the op that it became part of
};
MergeResult merge_cells(const Graph& graph, const Cells& cells);

// detail = "framework". Adds the ops that a TensorFlow 1.x graph of the same model has besides its kernels: constants,
// shapes, variables with their reads, initial values and restores, the bookkeeping of gradients. The rules stand in
// framework_rules.cpp. The new ops are joined by control edges and tensors of a few bytes, so that the data moved and
// the memory stay those of detail = "op"; they cost nothing or a launch.
PassResult add_framework_ops(const Graph& graph);

}  // namespace emplace
