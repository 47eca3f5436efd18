// Passes: Graph in, Graph out, with a map back to the ops of the input graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace {

struct PassResult {
  Graph graph;
  // Per op of the input graph: the op of `graph` that it is, or is part of. None: it vanished. What nothing became is
  // new.
  std::vector<OpId> became;

  // The other way: per op of `graph` the ops of the input graph that it stands for, ascending; empty where it is new.
  [[nodiscard]] std::vector<std::vector<OpId>> origins() const;
};
// Two passes as one: `second` ran on the graph of `first`.
PassResult followed_by(const PassResult& first, PassResult second);

// All passes carry layer, phase and co-location over, and leave ops in topological order (expand_training and colocate:
// where the input's are).

// Folds away what is not work. Known before the step are Constant, ConstantOfShape of a constant, the Shape of a tensor
// of fixed size, and what is computed from such values: they become parameters of their consumers. Trainable weights
// are only folded through rearrangements (Identity, Reshape, Cast, Transpose ...), since arithmetic on them is work
// with a gradient; an Identity of a weight, which is how exporters write equal weights, becomes a weight of its own.
// Identity of a tensor and Dropout outside training disappear, as do marks of a model's outputs (Result, _Retval), what
// TensorFlow runs before or beside the steps (assignments of initial and restored values, savers), and ops that only
// such ops wanted. Parameters without users go too.
PassResult prune(const Graph& graph);

struct TrainingOptions {
  std::string optimizer = "sgd";  // sgd | momentum | adam: state kept per parameter 0, 1, 2 copies
};
// Adds a training step to any forward graph: the gradient of each output that nobody consumes ("OutputGrad"), backward
// ops by the gradient rules of the op table, a "Sum" where a tensor or a parameter has several users, and one update op
// a trainable parameter that got a gradient ("ApplyGradientDescent", "ApplyMomentum", "ApplyAdam"; "SparseApply..."
// where it is only read by one Gather), whose state_bytes hold the optimiser's state. A type without a rule gets one op
// `<Type>Grad`, which is not in the op table and so is reported with the uncosted ops. Integer parameters are not
// trained. Where a file's Variable or VarHandleOp holds the parameter, the update reads and is co-located with that op.
// Of a loop, whose back edges the reader cut, one iteration goes backwards: what it would hand to the next one counts
// as an output. InputError if nothing is trainable or an op is not a forward op.
PassResult expand_training(const Graph& forward, const TrainingOptions& options);

// A parameter with one user stays with it; its update is co-located with that user and no longer names it. One with
// several becomes a `Variable` op (attribute "parameter") whose output goes to the users and to the co-located update,
// as in TensorFlow, so that any of them may sit elsewhere at the price of a transfer. A Variable's bytes are those of
// its output, which lives until its last user has ended; the op names no parameter, so that they are not counted twice.
PassResult share_parameters(const Graph& graph);

// The passes from here on take any graph. They should run before share_parameters (the groups of colocate after it), so
// that a weight that only one merged op uses stays with it.

// Fuses what inference runtimes and XLA run as one kernel; graph/merge.hpp says what becomes of costs: FLOPs stay, the
// tensors between are neither written nor read, and several launches become one. An element-wise op, or a batch
// normalisation with fixed statistics, joins the op that makes one of its operands if that op has no other successor,
// the shapes of both results are equal and known, both belong to one phase, and their co-location groups agree. It may
// join other such ops, and one matrix product or convolution: of several the last, whose other operands are there by
// then (ONNX Runtime's Conv + Add + Relu). The fused op has the class of that product or convolution, and its name.
PassResult fuse(const Graph& graph);

// Contraction before learning (HSDAG, docs/papers/hsdag.md, section 2.1); edges are distinct pairs of ops,
// with control dependencies. `chain` (the paper): every edge (i, j) where j is the only successor of i, and i the only
// predecessor of j. `single_parent` (the released code): every op with one predecessor joins it.
enum class ChainRule : std::uint8_t { chain, single_parent };
PassResult contract_chains(const Graph& graph, ChainRule rule);

// Merges ops until `groups` remain (fewer only where the graph has fewer). Rounds of heavy-edge contraction, heaviest
// edge in bytes first (Karypis and Kumar 1998), restricted to edges that cannot close a cycle: (u, v) where v is the
// only successor of u, or u the only predecessor of v; a cluster of one round has edges of one of the two kinds alone.
// Where these run out (Herrmann et al. 2019, section 4, on why heavy-edge matching needs such restrictions in directed
// acyclic graphs), neighbours in a depth-first topological order merge, which is safe for any pair. A group's share of
// FLOPs + share of bytes + share of ops is bounded by twice the mean; the bound doubles when nothing else is left.
// O((N + E) log N). `groups` is at least 1.
PassResult coarsen(const Graph& graph, std::size_t groups);

struct LayerOptions {
  // 0: the layers that the model names (GraphOp::layer); ops without one stay as they are. Above 0: at most this many
  // layers, windows of equal width over the longest path (in ops) that leads to an op.
  std::size_t layers = 0;
};
// One op a layer and phase: forward "encoder/1", "grad/encoder/1", "update/encoder/1". A layer that a path leaves and
// enters again becomes several ("encoder/1#2"). InputError if layers are to be named by the model and it names none.
PassResult split_into_layers(const Graph& graph, const LayerOptions& options);

struct ColocateOptions {
  bool variables = true;  // a Variable with its reads (Identity) and its updates, as TensorFlow's "loc:@" binds them
  bool gradients = true;  // a backward op with its forward op (TensorFlow: colocate_gradients_with_ops)
  // ColocRL (docs/papers/colocrl.md, section 2.1), on top of the groups so far, control dependencies
  // included. `op`: every op whose results go to exactly one distinct op joins it. `group`: the same for groups,
  // repeated until no group has exactly one successor. No join is refused for closing a cycle of groups: a co-location
  // group may depend on another both ways.
  enum class Recursion : std::uint8_t { none, op, group } recursion = Recursion::none;
};
// Sets GraphOp::colocate, merges nothing. Groups that are there stay together; a group takes the first name among its
// members, else "coloc/<first op>". An op that nothing binds keeps none.
PassResult colocate(const Graph& graph, const ColocateOptions& options);

}  // namespace emplace
