// Turns a Graph and a Machine into a Problem: passes, roofline times, memory.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "cost/measured.hpp"
#include "emplace/cost/roofline_options.hpp"
#include "emplace/graph/graph.hpp"
#include "emplace/machine/machine.hpp"
#include "emplace/problem/problem.hpp"
#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"

namespace emplace::cost {

// Applies the passes (graph/passes.hpp) that determine what is computed: prune, expand to a training step, fuse. The
// ops of the result are the kernels that a runtime launches. `place` begins messages. InputError if a training step is
// to be expanded again.
PassResult kernel_passes(const Graph& graph, const RooflineOptions& options, const std::string& place);

// Applies the passes that determine what is placed: contract and coarsen as in `options`, turn shared parameters into
// Variable ops, form co-location groups. InputError if the layers of the model are to be used and it names none.
PassResult grouping_passes(Graph kernels, const RooflineOptions& options);

// Applies both, with one map from the ops of `graph`.
PassResult apply_passes(const Graph& graph, const RooflineOptions& options, const std::string& place);

// Sums over the ops that a device can run, each op once.
struct DeviceCost {
  std::size_t ops = 0;
  double seconds = 0;
  std::size_t measured_ops = 0;  // ops whose whole time is from a profile
  double measured_s = 0;         // the part of `seconds` that is from a profile
};

struct Lowered {
  Problem problem;
  Graph graph;                                     // after the passes: op i is the problem's op i
  std::vector<OpId> origin;                        // per op: its (first) op of the input graph; none: made by a pass
  std::vector<OpId> became;                        // per op of the input graph: the op that it is part of, or none
  GraphStatistics statistics;                      // of `graph`; costs of uncosted_ops and unknown_tensors are guesses
  std::vector<std::string> unmatched_unsupported;  // "gpu:0: 'LTSM'": unsupported types in neither op table nor graph
  MeasuredTimes measured;                          // `seconds` is empty without profiles
  std::vector<DeviceCost> costs;                   // per device: sums of the times of the problem's ops
  std::vector<DeviceCost> other_costs;             // the same with the other choice of `fuse`, if wanted
};

// Applies the passes, then computes a time for each op and device: the sum of the times of its kernels (roofline.hpp),
// since ops that are merged to be placed together are still launched one by one. Tensors have their bytes (0 if
// unknown, see cost_warnings); control dependencies become tensors of 0 bytes. A parameter with one user is resident on
// the device of that op. A parameter with several users is counted once, as the tensor of its `Variable` op (frameworks
// pass the buffer, not a copy), which is in memory from the start of the step until its last reader, in training its
// update. Inputs of the graph are on every device from the start and are left out. `name` is the problem's name and
// begins messages. Times in `profiles` replace those of the roofline, also for ops that the device cannot run according
// to the machine (cost/measured.hpp). InputError if nothing is left to place, a training step is to be expanded again,
// no device can run an op, or a device lacks the peak of a dtype in which the graph computes.
// `other_costs` are computed if `with_other_costs` is set: to compare the sum over a graph's ops with the sum over its
// fused ops, which is the time of a whole model in a runtime that fuses. A graph that is moved here is given up as soon
// as the passes have read it, so that a large one is not in memory twice.
Lowered lower(const Graph& graph, const machine::Machine& machine, const RooflineOptions& options,
              const std::string& name, std::span<const DeviceProfile> profiles = {}, bool with_other_costs = false);
Lowered lower(Graph&& graph, const machine::Machine& machine, const RooflineOptions& options, const std::string& name,
              std::span<const DeviceProfile> profiles = {}, bool with_other_costs = false);

// "5497 of 6647 ops of the model are not placed: ...", where `became` has the op that each became; "" if all are
// placed.
std::string removed_ops(std::span<const OpId> became);

// Warnings, as sentences for users: about guesses (unknown op types with their share of the ops, tensors without a
// size), about rows of a profile that are not used, and about likely mistakes (unsupported op types that do not exist).
std::vector<std::string> cost_warnings(const Lowered& lowered);

}  // namespace emplace::cost
