// Removes ops that do no work, in three linear sweeps: the first finds constants (producers first), the second finds
// the ops that are still needed (consumers first), the third builds the new graph.
#include <algorithm>
#include <unordered_set>

#include "emplace/base/error.hpp"
#include "graph/ops/inputs.hpp"
#include "graph/ops/op_row.hpp"
#include "graph/passes/passes.hpp"
#include "graph/training/variables.hpp"

namespace emplace {

namespace {

enum class Fate : std::uint8_t {
  keep,
  fold,   // its outputs are known before the step and become parameters of their consumers
  alias,  // its first output is replaced by its first input
  dead,   // it is not part of a step, or only removed ops read its outputs
};

bool is_one_of(const std::string& type, std::initializer_list<const char*> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// Whether the type rearranges values without arithmetic. In training only such ops on weights may be folded, since
// folding arithmetic would hide work and gradients.
bool only_rearranges(const std::string& type) {
  return is_one_of(type, {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Cast", "CastLike"});
}

// Expand, Tile and the like make large tensors of small constants, which a runtime does not keep for the whole step.
constexpr Bytes largest_grown_constant = Bytes{64} << 20;

class Pruner {
 public:
  Pruner(const Graph& graph, const PruneOptions& options)
      : old_(graph), options_(options), fate_(graph.ops.size(), Fate::keep), tensor_(graph.tensors.size()) {
    for (const GraphParameter& parameter : graph.parameters) parameter_names_.insert(parameter.name);
  }

  PassResult run() {
    const std::vector<OpId> order = old_.topological_order();
    for (const OpId id : order) {
      decide(id);
      find_initial(id);
    }
    for (std::size_t i = order.size(); i-- > 0;) find_dead(order[i]);
    for (const OpId id : model_outputs_) merge_model_output(id);
    return old_.places_constants ? mark() : rebuild(order);
  }

 private:
  // Facts about a tensor of the old graph.
  struct Known {
    bool constant = false;
    bool trainable = false;
    bool fill = false;              // a ConstantOfShape, or one rearranged
    DType stored = DType::unknown;  // of a dequantised constant: the type of the integers that stay in memory
    bool initial = false;           // computed from constants, random numbers and files only
    bool needed = false;            // by an op that stays
    std::uint32_t readers = 0;      // input positions of ops that stay
    std::uint32_t alias = TensorId::none_value;
    Operand now;  // its operand in the new graph
  };

  [[nodiscard]] Operand resolve(Operand operand) const {
    while (operand.is_tensor() && tensor_[operand.index].alias != TensorId::none_value)
      operand.index = tensor_[operand.index].alias;
    return operand;
  }
  [[nodiscard]] bool is_constant(const Operand& operand) const {
    return !operand.is_tensor() || tensor_[operand.index].constant;
  }
  [[nodiscard]] bool is_trainable(const Operand& operand) const {
    if (operand.is_parameter())
      return old_.parameters[operand.index].trainable && is_floating(old_.parameters[operand.index].dtype);
    return operand.is_tensor() && tensor_[operand.index].trainable;
  }
  // Whether all its numbers are equal, so that only an op that reads them as they are can mean them as weights.
  [[nodiscard]] bool is_fill(const Operand& operand) const {
    return operand.is_tensor() && tensor_[operand.index].fill;
  }
  [[nodiscard]] std::int64_t elements(const Operand& operand) const {
    const Shape& shape =
        operand.is_parameter() ? old_.parameters[operand.index].shape : old_.tensors[operand.index].shape;
    return shape.elements().value_or(0);
  }

  // The element type in which the operand, a constant, is kept; unknown if that is its own.
  [[nodiscard]] DType stored(const Operand& operand) const {
    return operand.is_tensor() ? tensor_[operand.index].stored : DType::unknown;
  }
  [[nodiscard]] bool grows_too_large(const GraphOp& op) const;
  [[nodiscard]] DType stored_by(const GraphOp& op) const;

  void decide(OpId id);
  void fold(OpId id);
  void decide_alias(OpId id);
  [[nodiscard]] bool waits(const GraphOp& op) const;
  void find_initial(OpId id);
  void merge_model_output(OpId id);
  void find_dead(OpId id);
  PassResult rebuild(const std::vector<OpId>& order);
  PassResult mark();
  Operand place_constant(Graph& graph, std::uint32_t tensor);

  const Graph& old_;
  const PruneOptions options_;
  std::vector<Fate> fate_;
  std::vector<Known> tensor_;
  std::vector<OpId> model_outputs_;  // Identity and Dropout ops whose output no op reads
  std::unordered_set<std::string> parameter_names_;
};

void Pruner::decide(OpId id) {
  const GraphOp& op = old_.ops[id.index()];
  if (op.phase != Phase::forward || op.outputs.empty()) return;
  const OpRow* row = find_row(op.type);
  if (row == nullptr || !row->foldable || op.type.starts_with("Random") || op.type == "Variable") return;
  bool constant = true, trained = false;
  for (const Operand& input : op.inputs) {
    constant = constant && is_constant(input);
    trained = trained || (is_trainable(input) && !is_fill(input));
    if (op.type == "CastLike") break;  // of the second operand only the type matters
  }
  // A fixed shape is known before the step, whatever the tensor's values are.
  if (is_one_of(op.type, {"Shape", "Size"}) && !op.inputs.empty() && op.inputs[0].is_tensor())
    constant = old_.tensors[op.inputs[0].index].shape.is_static();
  if (constant && (options_.inference || !trained || only_rearranges(op.type)) && !grows_too_large(op))
    fold(id);
  else
    decide_alias(id);
}

// Constant and ConstantOfShape hold weights in some exports, of any size.
bool Pruner::grows_too_large(const GraphOp& op) const {
  if (is_one_of(op.type, {"Constant", "ConstantOfShape"})) return false;
  Bytes made = 0;
  std::int64_t elements_made = 0, elements_read = 0;
  for (const TensorId output : op.outputs) {
    made = add_bytes(made, old_.tensors[output.index()].bytes().value_or(0));
    elements_made = add_bytes(elements_made, elements(Operand::of(output)));
  }
  for (const Operand& input : op.inputs)
    if (input.kind != Operand::Kind::none) elements_read = add_bytes(elements_read, elements(input));
  return made > largest_grown_constant && elements_made > elements_read;
}

// A runtime keeps the integers of a dequantised constant, and fuses DequantizeLinear into the ops that read it.
DType Pruner::stored_by(const GraphOp& op) const {
  if (op.inputs.empty()) return DType::unknown;
  const Operand& input = op.inputs[0];
  if (op.type != "DequantizeLinear")
    return only_rearranges(op.type) && op.type != "Cast" ? stored(input) : DType::unknown;
  return input.is_parameter() ? old_.parameters[input.index].dtype
         : input.is_tensor()  ? old_.tensors[input.index].dtype
                              : DType::unknown;
}

// Makes the op's outputs constants and finds which of them are weights.
void Pruner::fold(OpId id) {
  const GraphOp& op = old_.ops[id.index()];
  fate_[id.index()] = Fate::fold;
  const bool rearranges = only_rearranges(op.type) && !op.inputs.empty();
  std::int64_t trained_elements = 0;
  for (const Operand& input : op.inputs)
    if (is_trainable(input) && (rearranges || !is_fill(input)))
      trained_elements = add_bytes(trained_elements, elements(input));
  for (const TensorId output : op.outputs) {
    const GraphTensor& tensor = old_.tensors[output.index()];
    const std::int64_t own = tensor.shape.elements().value_or(0);
    Known& known = tensor_[output.index()];
    known.constant = true;
    known.stored = stored_by(op);
    known.fill = op.type == "ConstantOfShape" || (rearranges && is_fill(op.inputs[0]));
    // Constant and ConstantOfShape hold weights in some exports; a single number is a coefficient, not a weight.
    const bool weight = is_one_of(op.type, {"Constant", "ConstantOfShape"}) && own > 1;
    const bool computed = rearranges ? is_trainable(op.inputs[0]) : trained_elements > 0 && own <= trained_elements;
    known.trainable = is_floating(tensor.dtype) && (weight || computed);
  }
}

// Whether the op has a control dependency on one that is not removed, so far.
bool Pruner::waits(const GraphOp& op) const {
  return std::ranges::any_of(op.after, [&](OpId before) {
    const Fate fate = fate_[before.index()];
    if (fate != Fate::alias) return fate == Fate::keep;
    const TensorId output = old_.ops[before.index()].outputs[0];
    return !old_.tensors[tensor_[output.index()].alias].producer.is_none();
  });
}

// Finds Identity of a tensor and Dropout outside training. One with control dependencies stays: what reads it has to
// wait for them, as in TensorFlow's gradients, of which none is passed on before all gradients of its op are there.
void Pruner::decide_alias(OpId id) {
  const GraphOp& op = old_.ops[id.index()];
  if (op.inputs.empty() || !op.inputs[0].is_tensor() || waits(op)) return;
  if (!is_one_of(op.type, {"Identity", "Dropout"})) return;
  if (op.type == "Dropout") {
    const auto mode = op.attributes.find("training_mode");
    const bool stated = mode != op.attributes.end();  // by a file of an old opset, or by its reader for the third input
    if (!stated && op.inputs.size() > 2 && op.inputs[2].kind != Operand::Kind::none) return;
    if (stated && mode->second != Attribute{std::int64_t{0}}) return;
    for (std::size_t i = 1; i < op.outputs.size(); ++i)
      if (!old_.tensors[op.outputs[i].index()].consumers.empty()) return;
  }
  if (old_.tensors[op.outputs[0].index()].consumers.empty()) {
    model_outputs_.push_back(id);
    return;
  }
  fate_[id.index()] = Fate::alias;
  tensor_[op.outputs[0].index()].alias = resolve(op.inputs[0]).index;
}

// Finds ops that TensorFlow runs before the first step or beside the steps: savers, and assignments of initial or
// restored values.
void Pruner::find_initial(OpId id) {
  const GraphOp& op = old_.ops[id.index()];
  if (op.phase != Phase::forward) return;
  bool initial = !is_variable(op) && !stands_for_input(op) && !brings_data(op);
  for (const Operand& input : op.inputs) initial = initial && (!input.is_tensor() || tensor_[input.index].initial);
  initial = initial || is_one_of(op.type, {"RestoreV2", "Restore"});
  for (const TensorId output : op.outputs) tensor_[output.index()].initial = initial;

  const bool saves = is_one_of(op.type, {"SaveV2", "Save", "MergeV2Checkpoints"});
  const bool assigns = is_one_of(op.type, {"Assign", "AssignVariableOp"}) && op.inputs.size() > 1 &&
                       op.inputs[1].is_tensor() && tensor_[op.inputs[1].index].initial;
  const bool is_read = std::any_of(op.outputs.begin(), op.outputs.end(),
                                   [&](TensorId output) { return !old_.tensors[output.index()].consumers.empty(); });
  if ((saves || assigns) && !is_read) fate_[id.index()] = Fate::dead;
}

// An output of the model is removed only if the tensor that it copies has no other readers and is no model input.
void Pruner::merge_model_output(OpId id) {
  const GraphOp& op = old_.ops[id.index()];
  const std::uint32_t source = resolve(op.inputs[0]).index;
  if (tensor_[source].readers > 1 || tensor_[source].constant || old_.tensors[source].producer.is_none()) return;
  fate_[id.index()] = Fate::alias;
  tensor_[op.outputs[0].index()].alias = source;
}

// Marks the inputs of ops that stay as needed. An op whose outputs had consumers, all of them removed, is dead.
void Pruner::find_dead(OpId id) {
  const GraphOp& op = old_.ops[id.index()];
  Fate& fate = fate_[id.index()];
  if (fate == Fate::keep) {
    bool had_consumers = false, needed = false;
    for (const TensorId output : op.outputs) {
      had_consumers = had_consumers || !old_.tensors[output.index()].consumers.empty();
      needed = needed || tensor_[output.index()].needed;
    }
    if (had_consumers && !needed) fate = Fate::dead;
  }
  if (fate != Fate::keep) return;
  // OpenVINO's and TensorFlow's marks of a model's outputs are removed, but the tensors that they read stay.
  const bool mark = op.outputs.empty() && is_one_of(op.type, {"Result", "_Retval"});
  if (mark) fate = Fate::dead;
  for (const Operand& input : op.inputs)
    if (const Operand source = resolve(input); source.is_tensor()) {
      tensor_[source.index].needed = true;
      if (!mark) ++tensor_[source.index].readers;
    }
}

Operand Pruner::place_constant(Graph& graph, std::uint32_t index) {
  Known& known = tensor_[index];
  if (known.now.kind == Operand::Kind::none) {
    const GraphTensor& tensor = old_.tensors[index];
    std::string name = tensor.name;
    while (!parameter_names_.insert(name).second) name += '_';
    const ParameterId id = graph.add_parameter(
        std::move(name), known.stored == DType::unknown ? tensor.dtype : known.stored, tensor.shape, known.trainable);
    graph.parameters[id.index()].folded = !known.trainable;
    known.now = Operand::of(id);
  }
  return known.now;
}

PassResult Pruner::rebuild(const std::vector<OpId>& order) {
  PassResult result;
  Graph& graph = result.graph;
  graph.name = old_.name;
  const auto kept = static_cast<std::size_t>(std::ranges::count(fate_, Fate::keep));
  graph.ops.reserve(kept);
  graph.tensors.reserve(kept);
  std::vector<Operand> parameter_now(old_.parameters.size());
  std::vector<OpId> op_now(old_.ops.size());
  result.became.resize(old_.ops.size());
  for (std::size_t i = 0; i < old_.tensors.size(); ++i)
    if (const GraphTensor& tensor = old_.tensors[i]; tensor.producer.is_none())
      tensor_[i].now = Operand::of(graph.add_input(tensor.name, tensor.dtype, tensor.shape));
  const auto now = [&](const Operand& operand) {
    const Operand source = resolve(operand);
    if (source.is_tensor())
      return tensor_[source.index].constant ? place_constant(graph, source.index) : tensor_[source.index].now;
    if (!source.is_parameter()) return source;
    Operand& parameter = parameter_now[source.index];
    if (parameter.kind == Operand::Kind::none) {
      const GraphParameter& old = old_.parameters[source.index];
      parameter = Operand::of(add_parameter_like(graph, old, old.shape));
    }
    return parameter;
  };
  for (const OpId id : order) {
    const GraphOp& op = old_.ops[id.index()];
    if (fate_[id.index()] == Fate::alias) {
      // A control dependency on it becomes one on the producer of its input.
      const OpId producer = old_.tensors[tensor_[op.outputs[0].index()].alias].producer;
      if (!producer.is_none()) op_now[id.index()] = op_now[producer.index()];
    }
    if (fate_[id.index()] != Fate::keep) continue;
    GraphOp copy = op;
    copy.outputs.clear();
    copy.after.clear();
    for (Operand& input : copy.inputs) input = now(input);
    for (const OpId before : op.after)
      if (!op_now[before.index()].is_none()) copy.after.push_back(op_now[before.index()]);
    if (!op.forward_of.is_none()) copy.forward_of = op_now[op.forward_of.index()];
    result.became[id.index()] = op_now[id.index()] = graph.add_op(std::move(copy));
    for (const TensorId output : op.outputs) {
      const GraphTensor& tensor = old_.tensors[output.index()];
      tensor_[output.index()].now =
          Operand::of(graph.add_output(op_now[id.index()], tensor.name, tensor.dtype, tensor.shape));
    }
  }
  return result;
}

// The same graph, in which what is known before the step and what is no part of it takes no time. A copy does: it may
// be on another device than what it copies.
PassResult Pruner::mark() {
  PassResult result{old_, {}};
  for (std::size_t i = 0; i < old_.ops.size(); ++i) {
    result.graph.ops[i].before_step = fate_[i] == Fate::fold || fate_[i] == Fate::dead;
    result.became.emplace_back(i);
  }
  return result;
}

}  // namespace

PassResult prune(const Graph& graph, const PruneOptions& options) { return Pruner(graph, options).run(); }

}  // namespace emplace
