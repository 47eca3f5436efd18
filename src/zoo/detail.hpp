// The three levels of detail of a model: builders make `op`; passes over that graph make `layer` and `framework`.
#pragma once

#include <vector>

#include "graph/passes/passes.hpp"
#include "zoo/model_builder.hpp"

namespace emplace::zoo {

// For detail = "layer". Merges the forward ops of each cell into one op (graph/passes/merge.hpp), and likewise their
// backward ops and the updates of their weights; every other op becomes a merged op by itself. `cells` describes the
// forward ops, which come first in `graph`.
PassResult merge_cells(const Graph& graph, const Cells& cells);

// For detail = "framework". Adds the ops that a TensorFlow 1.x graph of the same model has in addition to its kernels:
// constants, shapes, variables with their reads, initial values and restores, the bookkeeping of gradients. The rules
// are in framework_rules.cpp. The new ops are connected by control edges and tensors of a few bytes, so that the data
// moved and the memory are those of detail = "op"; they cost nothing or one launch.
PassResult add_framework_ops(const Graph& graph);

}  // namespace emplace::zoo
