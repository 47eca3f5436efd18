// Passes: Graph in, Graph out, with a map back to the ops of the input graph.
#pragma once

#include <string>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace {

struct PassResult {
  Graph graph;
  std::vector<OpId> origin;  // per op of `graph`: the op of the input graph that it stands for (none: it is new)
};

// Folds away what is not work: Constant-like ops become parameters of their consumers, Identity and inference Dropout
// disappear, ops whose every input is a parameter or constant (shape arithmetic, shared-weight copies) are folded.
PassResult prune(const Graph& graph);

struct TrainingOptions {
  std::string optimizer = "sgd";  // sgd | momentum | adam: state kept per parameter 0, 1, 2 copies
};
// Adds the backward pass, the sums of gradients where a tensor or a parameter has several users, and one update op a
// trainable parameter, co-located with the parameter.
PassResult expand_training(const Graph& forward, const TrainingOptions& options);

// A parameter with one user stays with it. One with several becomes a `Variable` op whose output goes to the users (as
// TensorFlow does), so that any of them may sit elsewhere at the price of a transfer.
PassResult share_parameters(const Graph& graph);

}  // namespace emplace
