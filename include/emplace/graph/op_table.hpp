// The table of op types: for each, its class (for efficiencies), its FLOPs and memory traffic from shapes and
// attributes. A type that is missing here is reported, never guessed silently.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace {

// Efficiency classes: machine files give one efficiency for each.
enum class OpClass : std::uint8_t {
  matmul,
  convolution,
  depthwise,
  recurrent,
  elementwise,
  normalisation,
  reduction,
  pooling,
  movement,
  embedding,
  update,
  free,
  other
};
[[nodiscard]] const char* name_of(OpClass cls);
[[nodiscard]] std::span<const OpClass> op_classes();

struct OpCost {
  OpClass cls = OpClass::other;
  double flops = 0;      // two a multiply-add
  Bytes bytes_read = 0;  // operands, parameters included
  Bytes bytes_written = 0;
  bool known_type = true;    // false: the type, or one of `merged_types`, is not in the table; traffic is still from
                             // the tensors, and the FLOPs of a `<Type>Grad` are twice those of its forward op
  bool known_shapes = true;  // false: some operand or output has no fixed size and counts 0
};

[[nodiscard]] OpCost cost_of(const Graph& graph, OpId op);

// What stays on the op's device for the whole step: its parameters, each once, and its `state_bytes`. After
// share_parameters no parameter has two users, so that the sum over ops counts every byte once. Unknown sizes count 0.
[[nodiscard]] Bytes resident_bytes(const Graph& graph, OpId op);

// Is the type in the table? Control flow ("If", "Loop") is not: its cost lies in sub-graphs that a Graph does not hold.
[[nodiscard]] bool is_known_type(std::string_view type);
// All types of the table, sorted.
[[nodiscard]] std::vector<std::string> known_op_types();

// Sums over a graph: what `inspect` prints. "as the file has it".
struct GraphStatistics {
  // `tensors` and `static_tensors` count the outputs of ops, not the inputs of the graph.
  // `edges` counts the `cut_edges` too: the file has them.
  std::size_t ops = 0, edges = 0, cut_edges = 0, tensors = 0, static_tensors = 0;
  std::int64_t parameters = 0;  // elements of all parameters
  double flops = 0;
  Bytes bytes = 0;                                  // read and written by all ops
  std::map<std::string, std::size_t> uncosted_ops;  // type -> count
  Bytes uncosted_bytes = 0;                         // of `bytes`, by ops of these types: their time is a guess
  std::vector<std::string> unknown_tensors;         // names of tensors and parameters without a fixed size
};
[[nodiscard]] GraphStatistics statistics(const Graph& graph);

}  // namespace emplace
