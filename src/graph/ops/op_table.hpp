// The table of op types. For each type it gives the class (which selects the efficiency), and the FLOPs and memory
// traffic as functions of shapes and attributes. Types that are not in the table are reported to the user.
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
  double flops = 0;      // a multiply-add counts two
  Bytes bytes_read = 0;  // by all operands, parameters included
  Bytes bytes_written = 0;
  double launches = 1;       // kernels that are launched one after the other: more than one for control flow,
                             // and for LSTM, GRU and RNN over several steps
  bool known_type = true;    // false: the type, or one of `merged_types`, is not in the table; traffic still follows
                             // from the tensors, and the FLOPs of a `<Type>Grad` are twice those of its forward op
  bool known_shapes = true;  // false: some operand or output has no fixed size and is counted as 0 bytes
};

[[nodiscard]] OpCost cost_of(const Graph& graph, OpId op);

// The bytes that stay on the op's device for the whole step: its parameters, each once, and its `state_bytes`. After
// share_parameters no parameter has two users, so that the sum over ops counts every byte once. Parameters of unknown
// size count 0.
[[nodiscard]] Bytes resident_bytes(const Graph& graph, OpId op);

// Whether the type is in the table. Control flow ("If", "Loop") is not: its cost is that of sub-graphs, which a Graph
// does not contain. A reader may state it in the op's attributes: body_flops, body_bytes_read, body_bytes_written,
// body_launches, body_class (a name of OpClass) and body_incomplete (1: a size in the body is not known).
[[nodiscard]] bool is_known_type(std::string_view type);
// How many of the ops of this type that `op` replaces (all where it replaces none) have a cost stated in attributes, as
// above. merge_ops keeps the count of a type in the attribute "stated_costs:TYPE" of the merged op.
[[nodiscard]] std::uint32_t stated_costs(const GraphOp& op, const std::string& type);
void set_stated_costs(GraphOp& op, const std::string& type, std::uint32_t count);
// All types of the table, sorted.
[[nodiscard]] std::vector<std::string> known_op_types();

// Sums over a graph, as `emplace inspect` prints them.
struct GraphStatistics {
  // `tensors` and `static_tensors` count the outputs of ops, not the inputs of the graph.
  // `edges` includes the `cut_edges`, which are in the file.
  std::size_t ops = 0, edges = 0, cut_edges = 0, tensors = 0, static_tensors = 0;
  std::int64_t parameters = 0;  // elements of all parameters but those that a pass computed from constants
  std::int64_t weights = 0;     // of these, what training finds (weights.hpp)
  double flops = 0;
  std::map<OpClass, double> flops_by_class;         // only classes with FLOPs
  Bytes bytes = 0;                                  // read and written by all ops
  std::map<std::string, std::size_t> uncosted_ops;  // type -> count
  Bytes uncosted_bytes = 0;                         // part of `bytes`, by ops of these types: their time is a guess
  std::vector<std::string> unknown_tensors;         // names of tensors and parameters without a fixed size
};
[[nodiscard]] GraphStatistics statistics(const Graph& graph);

}  // namespace emplace
