// Passes: each takes a Graph and returns a new Graph, with a map from the ops of the input graph to the new ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace {

struct PassResult {
  Graph graph;
  // For each op of the input graph: the op of `graph` that it became or is part of; none if it was removed. Ops of
  // `graph` that do not occur here are new.
  std::vector<OpId> became;

  // The inverse map: for each op of `graph` the ops of the input graph that it replaces, in ascending order; empty if
  // it is new.
  [[nodiscard]] std::vector<std::vector<OpId>> origins() const;
};
// Combines two passes into one; `second` must have run on the graph of `first`.
PassResult followed_by(const PassResult& first, PassResult second);

// Adds a parameter that has everything of `parameter` but its shape and its users.
ParameterId add_parameter_like(Graph& graph, const GraphParameter& parameter, Shape shape);

// All passes keep the ops' layer, phase and co-location, and return ops in topological order (expand_training and
// colocate: if the input's ops are in such an order).

struct PruneOptions {
  // The graph is evaluated and not trained, so that arithmetic on its weights is no work of a step: runtimes do it
  // once, when they load the model.
  bool inference = false;
};
// Removes ops that do no work in a step. The values of Constant, of ConstantOfShape of a constant, of the Shape of a
// tensor of fixed size, and all that is computed from such values, are known before the step; they become parameters of
// their consumers. Random numbers, state and control flow are not known. Unless `inference` is set, trainable weights
// are only folded through rearrangements (Identity, Reshape, Cast, Transpose ...), since arithmetic on them is work
// with a gradient; an Identity of a weight, which exporters write for equal weights, becomes a separate weight.
//
// A folded value is a weight of the model (not GraphParameter::folded) if it is the result of a Constant or
// ConstantOfShape of several floating-point numbers, a rearranged weight, or computed from weights that have together
// at least as many elements (weight normalisation). What is computed from the result of ConstantOfShape is no weight:
// masks and buffers are made so.
//
// Also removed are Identity of a tensor, Dropout outside training, marks of a model's outputs (Result, _Retval), ops
// that TensorFlow runs before or beside the steps (assignments of initial and restored values, savers), ops whose
// outputs only removed ops read, and parameters without users.
PassResult prune(const Graph& graph, const PruneOptions& options = {});

struct TrainingOptions {
  std::string optimizer = "sgd";  // sgd | momentum | adam: keeps 0, 1 or 2 copies of each parameter as state
};
// Adds a training step to any forward graph: an op for the gradient of each output that no op consumes ("OutputGrad"),
// backward ops by the gradient rules of the op table, a "Sum" of the gradients of a tensor or parameter with several
// users, and one update op for each trainable parameter that has a gradient ("ApplyGradientDescent", "ApplyMomentum",
// "ApplyAdam"; "SparseApply..." if only one Gather reads it), whose state_bytes are the optimiser's state. A type
// without a rule gets one op `<Type>Grad`, which is not in the op table and is therefore reported with the uncosted
// ops. Integer parameters are not trained. If a Variable or VarHandleOp of the file holds the parameter, the update
// reads that op's output and is co-located with it. Of a loop, whose back edges the reader cut, one iteration is
// differentiated; the values that it would pass to the next iteration count as outputs. InputError if nothing is
// trainable or an op is not a forward op.
PassResult expand_training(Graph forward, const TrainingOptions& options);

// A parameter with one user remains that user's operand; its update is co-located with the user and no longer has the
// parameter as an operand. A parameter with several users becomes a `Variable` op (with its name as the attribute
// "parameter"), whose output the users and the co-located update read, as in TensorFlow; a user on another device then
// costs a transfer. A Variable's bytes are those of its output, which stays in memory until its last user has ended;
// the op has no parameter as operand, so that the bytes are not counted twice.
PassResult share_parameters(Graph graph);

// The following passes take any graph. They should run before share_parameters (colocate should run after it), so that
// a weight that only one merged op uses remains its operand.

// Fuses ops that inference runtimes and XLA run as one kernel (graph/passes/merge.hpp describes the costs): the FLOPs
// stay the same, the tensors between the ops are neither written nor read, and several launches become one. An
// element-wise op, or a batch normalisation with fixed statistics, is fused with the producer of one of its operands if
// that producer has no other successor, the shapes of both results are equal and known, both ops have the same phase,
// and their co-location groups agree. A fused op contains at most one matrix product or convolution, whose class and
// name it takes; if several operands are results of such products, only the last of them is fused, because the others
// have been computed by then (ONNX Runtime's Conv + Add + Relu).
PassResult fuse(const Graph& graph);

// Contraction before learning (HSDAG, docs/papers/hsdag.md, section 2.1). Edges are distinct pairs of ops, control
// dependencies included. `chain` (the paper) contracts every edge (i, j) where j is the only successor of i and i the
// only predecessor of j. `single_parent` (the released code) merges every op that has one predecessor with it.
enum class ChainRule : std::uint8_t { chain, single_parent };
PassResult contract_chains(const Graph& graph, ChainRule rule);

// Merges ops until `groups` remain (fewer only if the graph has fewer ops). It makes rounds of heavy-edge contraction,
// with the edge of the most bytes first (Karypis and Kumar 1998), restricted to edges that cannot close a cycle: (u, v)
// where v is the only successor of u, or u the only predecessor of v; within a round, a cluster grows along edges of
// one of these two kinds only. (Herrmann et al. 2019, section 4, explain why heavy-edge matching needs such
// restrictions in directed acyclic graphs.) When no such edges remain, neighbours in a depth-first topological order
// are merged, which cannot close a cycle either. The sum of a group's shares of FLOPs, bytes and ops is at most twice
// the mean; this bound is doubled when no merge is possible otherwise. O((N + E) log N). `groups` must be at least 1.
PassResult coarsen(const Graph& graph, std::size_t groups);

struct LayerOptions {
  // 0: use the layers that the model names (GraphOp::layer); ops without a layer stay as they are. Above 0: make at
  // most this many layers, which are windows of equal width over the length (in ops) of the longest path to an op.
  std::size_t layers = 0;
};
// Merges the ops of each layer and phase into one op: "encoder/1" (forward), "grad/encoder/1", "update/encoder/1". A
// layer that a path leaves and enters again becomes several ops ("encoder/1#2"). InputError if `layers` is 0 and the
// model names no layers.
PassResult split_into_layers(const Graph& graph, const LayerOptions& options);

struct ColocateOptions {
  bool variables = true;  // a Variable with its reads (Identity) and its updates, as TensorFlow's "loc:@" binds them
  bool gradients = true;  // a backward op with its forward op (TensorFlow: colocate_gradients_with_ops)
  // ColocRL (docs/papers/colocrl.md, section 2.1), applied to the groups formed so far, with control dependencies.
  // `op`: every op whose results go to exactly one distinct op is joined with it. `group`: the same for groups,
  // repeated until no group has exactly one successor. Joins may close cycles of groups: two co-location groups may
  // depend on each other.
  enum class Recursion : std::uint8_t { none, op, group } recursion = Recursion::none;
  std::vector<std::vector<OpId>> together = {};  // sets of ops, each to be on one device
};
// Sets GraphOp::colocate and merges no ops. Existing groups stay together; a group is named after the first of its
// members that has a group name, else "coloc/<first op>". Ops that no rule joins with another get no group.
PassResult colocate(const Graph& graph, const ColocateOptions& options);

}  // namespace emplace
