// A placement mapped back to the ops of the model's file. It was made for the graph after the passes, which is pruned,
// fused, coarsened or expanded to a training step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emplace/source/load_problem.hpp"
#include "graph/passes/passes.hpp"

namespace emplace::deploy {

struct ModelPlacement {
  // Why an op has its device. placed: it is (part of) an op that was placed. follows: it was folded away before placing
  // and gets the device of an op that reads it, else of an op that it reads. none: it has no device.
  enum class Reason : std::uint8_t { placed, follows, none };

  std::string model;                      // as the user named it: a file, or zoo:NAME
  std::string file;                       // the placement's file
  Graph graph;                            // as it is in the file: op i is the i-th node
  std::vector<std::string> device_of_op;  // of each op of `graph`; "" if the reason is `none`
  std::vector<Reason> reason_of_op;
  // Of each op: the place of its placed op in the placement's order, from 1 on, and 0 for others; empty without an
  // order.
  std::vector<std::uint32_t> rank_of_op;
  PassResult passed;                          // the graph that was placed, and the op that each op became
  std::vector<std::string> device_of_placed;  // of each op of the placed graph
  std::string problem, schedule;              // as the placement's file names them; may be ""

  // The devices of the model's ops, in the order of their first op.
  [[nodiscard]] std::vector<std::string> devices() const;
  // Ops of `passed.graph` that no op of the file became: a training step, shared weights or a pass added them.
  [[nodiscard]] std::vector<OpId> not_in_model() const;
  // The device of each op of the placed graph when a framework runs what the exporters write: ops of the model are as
  // placed, a gradient is with its forward op, a shared weight with the first op of the model that reads it, an update
  // with its weight. Other ops that a pass added are as placed.
  [[nodiscard]] std::vector<std::string> device_in_plan() const;
  // Throws InputError if an output is, under any name, the placement's file or a file of the model (its weights too).
  void refuse_to_replace(std::span<const std::string> outputs) const;
};

// Reads the model and its placement. The options must be those with which the problem was made. InputError if the
// placement's ops are not those of the graph after the passes.
ModelPlacement read_model_placement(const std::string& model, const source::SourceOptions& options,
                                    const std::string& placement_file);

}  // namespace emplace::deploy
