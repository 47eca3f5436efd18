// The three details of a model: `op` as it is built, `layer` and `framework` by passes over that graph.
#pragma once

#include <vector>

#include "emplace/graph/passes.hpp"
#include "zoo/model_builder.hpp"

namespace emplace::zoo {

// detail = "layer". The forward ops of a cell become one op (graph/merge.hpp), and so do their backward ops and the
// updates of their weights; each other op becomes one of its own. `cells` speaks of the forward ops, which come first
// in `graph`.
PassResult merge_cells(const Graph& graph, const Cells& cells);

// detail = "framework". Adds the ops that a TensorFlow 1.x graph of the same model has besides its kernels: constants,
// shapes, variables with their reads, initial values and restores, the bookkeeping of gradients. The rules stand in
// framework_rules.cpp. The new ops are joined by control edges and tensors of a few bytes, so that the data moved and
// the memory stay those of detail = "op"; they cost nothing or a launch.
PassResult add_framework_ops(const Graph& graph);

}  // namespace emplace::zoo
