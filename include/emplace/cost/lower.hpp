// Graph + Machine -> Problem: passes, roofline times, memory.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/options.hpp"
#include "emplace/cost/measured.hpp"
#include "emplace/graph/graph.hpp"
#include "emplace/graph/op_table.hpp"
#include "emplace/graph/passes.hpp"
#include "emplace/machine/machine.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::cost {

// The recipe's [roofline] table.
struct RooflineOptions {
  bool prune = true;      // fold constants, identities and shape arithmetic away first
  bool training = false;  // expand any forward graph to a training step
  std::string optimizer = "sgd";
  bool fuse = false;              // graph/passes.hpp says what these do
  std::string contract = "none";  // none | chain | single-parent | layers
  std::int64_t layers = 0;        // with contract = layers; 0: those that the model names
  std::int64_t coarsen = 0;       // groups; 0: none
  std::string colocate = "none";  // none | tensorflow | colocrl | colocrl-group

  friend bool operator==(const RooflineOptions&, const RooflineOptions&) = default;
};
void describe(RooflineOptions& options, OptionVisitor& visit);

// The passes (graph/passes.hpp) that say what is computed: prune, expand to a training step, fuse. The ops of the
// result are the kernels that a runtime launches. `place` begins messages. InputError if a training step is to be
// expanded again.
PassResult kernel_passes(const Graph& graph, const RooflineOptions& options, const std::string& place);

// The passes that say what is placed: contract and coarsen as asked, make shared parameters ops of their own, bind
// co-location groups. InputError if the model names no layers where they are asked for.
PassResult grouping_passes(const Graph& kernels, const RooflineOptions& options);

// Both, with one map back to the ops of `graph`.
PassResult apply_passes(const Graph& graph, const RooflineOptions& options, const std::string& place);

// The ops that a device can run, each once.
struct DeviceCost {
  std::size_t ops = 0;
  double seconds = 0;
  std::size_t measured_ops = 0;  // of these, all of whose time is from a profile
  double measured_s = 0;         // time that is from a profile
};

struct Lowered {
  Problem problem;
  Graph graph;                                     // after the passes: op i is the problem's op i
  std::vector<OpId> origin;                        // per op: the (first) op of the input graph; none: made by a pass
  std::vector<OpId> became;                        // per op of the input graph: the op that it is part of, or none
  GraphStatistics statistics;                      // of `graph`; uncosted_ops and unknown_tensors are what was guessed
  std::vector<std::string> unmatched_unsupported;  // "gpu:0: 'LTSM'": refused types that nothing else knows
  MeasuredTimes measured;                          // `seconds` is empty without profiles
  std::vector<DeviceCost> costs;                   // per device; op after op, as the problem has them
};

// Passes, then a time for each op and device: that of its kernels (cost/roofline.hpp) one after the other, for what is
// merged to be placed together is still launched one by one. Tensors with their bytes (0 where unknown, see
// cost_warnings), control dependencies as tensors of 0 bytes. A parameter is resident with its op; one that several ops
// use is counted once too, as the tensor of its `Variable` op (frameworks hand out the buffer, not a copy), which lives
// from the start of the step to its last reader, its update in training. Inputs of the graph are on every device from
// the start and do not appear. `name` names the problem and begins messages. InputError if nothing is left to place, a
// training step is to be expanded again, no device can run an op, or a device lacks the peak of a dtype that the graph
// computes in. Times that `profiles` have replace the roofline's, also where the machine says that a device cannot run
// the op (cost/measured.hpp).
Lowered lower(const Graph& graph, const machine::Machine& machine, const RooflineOptions& options,
              const std::string& name, std::span<const DeviceProfile> profiles = {});

// The costs that `lower` finds, without a Problem: to set the sum of a graph's ops beside that of its fused ones. A
// whole model in a runtime that fuses takes the second.
std::vector<DeviceCost> device_costs(const Graph& graph, const machine::Machine& machine,
                                     const RooflineOptions& options, const std::string& name,
                                     std::span<const DeviceProfile> profiles = {});

// What was guessed (unknown op types with their share of the ops, tensors without a size), was not used (rows of a
// profile) or looks like a slip (refused op types that do not exist), as sentences for people; empty if there is
// nothing to say.
std::vector<std::string> cost_warnings(const Lowered& lowered);

}  // namespace emplace::cost
