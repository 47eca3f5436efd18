// A placement of what was learned on (a graph after the passes: pruned, fused, coarsened, expanded to a training step),
// brought back to the ops of the model's file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emplace/graph/passes.hpp"
#include "emplace/source/load_problem.hpp"

namespace emplace::deploy {

struct ModelPlacement {
  // Why an op has its device: it is (part of) an op that was placed; it was folded away before and goes where the op
  // goes that reads it, else where that goes which it reads; nothing says anything.
  enum class Reason : std::uint8_t { placed, follows, none };

  std::string model;                      // as it was named: a file, or zoo:NAME
  std::string file;                       // of the placement
  Graph graph;                            // as the file has it: op i is its i-th node
  std::vector<std::string> device_of_op;  // of these ops; "" where the reason is `none`
  std::vector<Reason> reason_of_op;
  PassResult passed;                          // the graph that was placed, and what became of each op
  std::vector<std::string> device_of_placed;  // of its ops
  std::string problem, schedule;              // as the placement says; may be ""

  // Devices that ops of the model have, in the order of their first op.
  [[nodiscard]] std::vector<std::string> devices() const;
  // What a training step, shared weights or a pass added: ops of `passed.graph` that no op of the file became.
  [[nodiscard]] std::vector<OpId> not_in_model() const;
  // InputError if an output is a file that was read or that the model goes on needing, under any name.
  void refuse_to_replace(std::span<const std::string> outputs) const;
};

// Reads both. The options are those with which the problem was made. InputError where the placement's ops are not those
// of the graph after the passes.
ModelPlacement read_model_placement(const std::string& model, const source::SourceOptions& options,
                                    const std::string& placement_file);

}  // namespace emplace::deploy
