// The computation graph that readers and the zoo build: ops with typed operands, tensors with dtypes and shapes,
// parameters. Costs per op come from the op table (op_table.hpp); the folder cost turns a Graph into a Problem.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "emplace/base/types.hpp"

namespace emplace {

// A tensor's dimensions; unknown_dimension stands for a size that is not fixed. If `ranked` is false, the rank is
// unknown too.
struct Shape {
  static constexpr std::int64_t unknown_dimension = -1;
  bool ranked = false;
  std::vector<std::int64_t> dims;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes) : ranked(true), dims(sizes) {}
  explicit Shape(std::vector<std::int64_t> sizes) : ranked(true), dims(std::move(sizes)) {}
  static Shape scalar() { return Shape(std::vector<std::int64_t>{}); }  // Shape{} is of unknown rank
  [[nodiscard]] bool is_static() const;
  // Product of the dimensions (1 for a scalar), nullopt if not static or beyond 2^62.
  [[nodiscard]] std::optional<std::int64_t> elements() const;
  [[nodiscard]] std::string str() const;  // "1x3x?x224", "scalar", "unknown rank"
  friend bool operator==(const Shape&, const Shape&) = default;
};

using ParameterId = Id<struct ParameterTag>;

// The operand at one input position of an op.
struct Operand {
  enum class Kind : std::uint8_t { none, tensor, parameter } kind = Kind::none;
  std::uint32_t index = 0;

  static Operand none() { return {}; }
  static Operand of(TensorId id) { return {Kind::tensor, id.value}; }
  static Operand of(ParameterId id) { return {Kind::parameter, id.value}; }
  [[nodiscard]] bool is_tensor() const { return kind == Kind::tensor; }
  [[nodiscard]] bool is_parameter() const { return kind == Kind::parameter; }
  friend bool operator==(const Operand&, const Operand&) = default;
};

// The value of an attribute that matters for costs: a whole number, a list of them, a number or a text.
using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>>;

enum class Phase : std::uint8_t { forward, backward, update };

struct GraphOp {
  std::string name;  // unique in the graph
  std::string type;  // an ONNX operator name where there is one ("Conv", "MatMul", "LSTM"), else the framework's
  std::map<std::string, Attribute> attributes;
  std::vector<Operand> inputs;  // positions as the op type defines them
  std::vector<TensorId> outputs;
  std::vector<OpId> after;  // control dependencies: ops that must end before this op starts
  std::string colocate;     // co-location group; "": none
  std::string module;       // path of the module that computes it ("encoder/layer/0"), if the file names one; may be ""
  std::string layer;        // the part of the model that an expert would keep on one device ("encoder/1"); may be ""
  Phase phase = Phase::forward;
  OpId forward_of;  // for backward and update ops: the forward op they belong to; none elsewhere
  // Bytes that stay on the op's device for the whole step besides its parameters: optimiser state, recurrent state.
  Bytes state_bytes = 0;
  // A runtime computes it once, when it loads the model: it takes no time in a step and sends nothing (see prune).
  bool before_step = false;
  // For an op that merge_ops made: the types of the ops that it replaces, with their counts, sorted by type.
  std::vector<std::pair<std::string, std::uint32_t>> merged_types;
};

struct GraphTensor {
  std::string name;
  DType dtype = DType::unknown;
  Shape shape;
  OpId producer;                // none: an input of the graph
  std::vector<OpId> consumers;  // each once, ascending
  // Bytes if dtype and shape are known.
  [[nodiscard]] std::optional<Bytes> bytes() const;
};

struct GraphParameter {
  std::string name;
  DType dtype = DType::unknown;
  Shape shape;
  bool trainable = true;
  std::vector<OpId> users;  // each once, ascending
  // A value that a pass computed from constants. It takes memory, but is none of the parameters that the model has.
  bool folded = false;
  bool no_weight = false;  // the file marks it as a buffer or a constant, or a pass found out (find_weights)
  // What it takes where its values are stored in blocks (quantised); 0: what follows from dtype and shape.
  Bytes stored_bytes = 0;
  [[nodiscard]] std::optional<Bytes> bytes() const;
};

// Invariants (checked by validate): ids in range, both directions of every list agree, names unique, acyclic.
struct Graph {
  std::string name;
  std::vector<GraphOp> ops;
  std::vector<GraphTensor> tensors;
  std::vector<GraphParameter> parameters;
  // Edges that close the loops of a file and that its reader left out (TensorFlow: NextIteration -> Merge), each once,
  // as (producer, consumer). They are not part of the graph: a loop is costed as one iteration. Passes drop them.
  std::vector<std::pair<OpId, OpId>> cut_edges;
  // Arithmetic on weights is placed, also if the graph is only evaluated: the zoo has the ops that papers placed.
  // Passes drop this.
  bool places_weight_arithmetic = false;
  // What is known before the step stays as ops without time, where prune would remove it: papers counted such ops.
  bool places_constants = false;

  // For building a graph: each function returns the new id and updates both directions of every list.
  TensorId add_input(std::string name, DType dtype, Shape shape);
  ParameterId add_parameter(std::string name, DType dtype, Shape shape, bool trainable = true);
  // `inputs` and `after` must exist already. Outputs are added with add_output.
  OpId add_op(GraphOp op);
  TensorId add_output(OpId op, std::string name, DType dtype, Shape shape);

  // For readers of files that list consumers before producers: they set `inputs` and `outputs` of the ops directly, and
  // relink() then computes producers, consumers and users from them. InputError for a tensor with two producers.
  void relink(const std::string& place = {});

  // Distinct (producer, consumer) pairs, through tensors and control dependencies.
  [[nodiscard]] std::size_t edge_count() const;
  // Op ids with producers before consumers; of several possible ops the smallest id comes first. Throws InputError,
  // which names a cycle, if there is one. Takes linear time if the ids are in such an order already.
  [[nodiscard]] std::vector<OpId> topological_order(const std::string& place = {}) const;
  // Throws InputError for empty or repeated names, cycles, sizes over 2^62 and inputs with a dimension of size 0, and
  // BugError if the two directions of a list disagree.
  void validate(const std::string& place = {}) const;
};

}  // namespace emplace
