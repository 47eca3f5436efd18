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

// All passes return a graph whose ops are in topological order, and carry layer, phase and co-location over.

// Folds away what is not work. Known before the step are Constant, ConstantOfShape of a constant, the Shape of a tensor
// of fixed size, and what is computed from such values: they become parameters of their consumers. Trainable weights
// are only folded through rearrangements (Identity, Reshape, Cast, Transpose ...), since arithmetic on them is work
// with a gradient; an Identity of a weight, which is how exporters write equal weights, becomes a weight of its own.
// Identity of a tensor and Dropout outside training disappear, as do marks of a model's outputs (Result, _Retval) and
// ops that only folded ones wanted. Parameters without users go too.
PassResult prune(const Graph& graph);

struct TrainingOptions {
  std::string optimizer = "sgd";  // sgd | momentum | adam: state kept per parameter 0, 1, 2 copies
};
// Adds a training step to any forward graph: the gradient of each output that nobody consumes ("OutputGrad"), backward
// ops by the gradient rules of the op table, a "Sum" where a tensor or a parameter has several users, and one update op
// a trainable parameter that got a gradient ("ApplyGradientDescent", "ApplyMomentum", "ApplyAdam"; "SparseApply..."
// where it is only read by one Gather), whose state_bytes hold the optimiser's state. A type without a rule gets one op
// `<Type>Grad`, which is not in the op table and so is reported with the uncosted ops. Integer parameters are not
// trained. InputError if nothing is trainable or an op is not a forward op.
PassResult expand_training(const Graph& forward, const TrainingOptions& options);

// A parameter with one user stays with it; its update is co-located with that user and no longer names it. One with
// several becomes a `Variable` op (attribute "parameter") whose output goes to the users and to the co-located update,
// as in TensorFlow, so that any of them may sit elsewhere at the price of a transfer. A Variable's bytes are those of
// its output, which lives until its last user has ended; the op names no parameter, so that they are not counted twice.
PassResult share_parameters(const Graph& graph);

}  // namespace emplace
