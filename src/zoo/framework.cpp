#include <fmt/core.h>

#include <algorithm>

#include "emplace/base/error.hpp"
#include "zoo/detail.hpp"
#include "zoo/framework_rules.hpp"

namespace emplace::zoo {

namespace {

// The shape assumed for shapes, axes and handles: a vector of four numbers.
const Shape few{4};

class Expander {
 public:
  explicit Expander(const Graph& graph) : old_(graph) {}

  PassResult run() {
    Graph& graph = result_.graph;
    graph.name = old_.name;
    for (const GraphParameter& p : old_.parameters) graph.add_parameter(p.name, p.dtype, p.shape, p.trainable);
    tensor_now_.resize(old_.tensors.size());
    for (std::size_t i = 0; i < old_.tensors.size(); ++i)
      if (const GraphTensor& tensor = old_.tensors[i]; tensor.producer.is_none())
        tensor_now_[i] = Operand::of(graph.add_input(tensor.name, tensor.dtype, tensor.shape));
    const std::vector<OpId> order = old_.topological_order();
    plan_gradients(order);
    read_.resize(old_.parameters.size());
    op_now_.resize(old_.ops.size());
    gate_.resize(old_.ops.size());
    for (const OpId id : order) copy(id);
    finish();
    result_.became = std::move(op_now_);
    return std::move(result_);
  }

 private:
  // The fields that new ops copy from the op to which they belong.
  struct Beside {
    std::string name;
    std::string layer;
    Phase phase;
    OpId forward_of;
    std::string colocate;
  };

  OpId add(const Beside& beside, std::string_view type, std::vector<Operand> inputs, std::vector<OpId> after) {
    GraphOp op;
    op.name = fmt::format("framework/{}/{}", beside.name, added_++);
    op.type = type;
    op.inputs = std::move(inputs);
    op.after = std::move(after);
    op.layer = beside.layer;
    op.phase = beside.phase;
    op.forward_of = beside.forward_of;
    op.colocate = beside.colocate;
    return result_.graph.add_op(std::move(op));
  }
  // The only output of a new op, which is added when it is first needed.
  Operand output(OpId id) {
    const GraphOp& op = result_.graph.ops[id.index()];
    if (!op.outputs.empty()) return Operand::of(op.outputs.front());
    const std::string name = op.name;
    return Operand::of(result_.graph.add_output(id, name, DType::f32, few));
  }

  // Adds the ops of a rule; the first waits for `start`. The inputs of an op that is no constant are the previous such
  // op and the constants between them. Returns the ops for which a reader of the whole chain must wait: the last op and
  // the constants after it.
  std::vector<OpId> add_chain(const Beside& beside, std::string_view types, OpId start) {
    std::vector<OpId> loose;
    OpId last;
    for (std::size_t at = 0; at < types.size();) {
      const std::size_t end = std::min(types.find(' ', at), types.size());
      const std::string_view type = types.substr(at, end - at);
      at = end + 1;
      if (type == "Constant") {
        loose.push_back(add(beside, type, {}, {}));
        continue;
      }
      std::vector<Operand> inputs;
      std::vector<OpId> after;
      // A NoOp has neither inputs nor outputs.
      const bool gives = !last.is_none() && result_.graph.ops[last.index()].type != "NoOp";
      if (type == "NoOp" || !gives) {
        if (const OpId before = last.is_none() ? start : last; !before.is_none()) after.push_back(before);
      } else {
        inputs.push_back(output(last));
      }
      for (const OpId constant : loose) inputs.push_back(output(constant));
      loose.clear();
      last = add(beside, type, std::move(inputs), std::move(after));
    }
    if (!last.is_none()) loose.push_back(last);
    return loose;
  }

  // Finds the last backward op of each forward op; none if the gradient passes through without an op.
  void plan_gradients(const std::vector<OpId>& order) {
    last_backward_.resize(old_.ops.size());
    is_training_ = false;
    for (const OpId id : order) {
      const GraphOp& op = old_.ops[id.index()];
      if (op.phase == Phase::backward) last_backward_[op.forward_of.index()] = id;
      is_training_ = is_training_ || op.phase == Phase::update;
    }
  }

  // The read of a parameter's variable, which is added for its first user. Reads, initial values and restores are
  // co-located with their variable (TensorFlow's "loc:@"), in the group that share_parameters uses for a variable with
  // several users.
  OpId read_of(std::uint32_t index) {
    OpId& read = read_[index];
    if (!read.is_none()) return read;
    const GraphParameter& parameter = old_.parameters[index];
    const std::string& layer = old_.ops[parameter.users[0].index()].layer;
    const Beside beside{parameter.name, layer, Phase::forward, {}, fmt::format("variable/{}", parameter.name)};
    return read = add_variable(beside, initial_value_ops(parameter.shape.dims.size()));
  }

  // Adds a variable, the ops that assign to it, and its read; returns the read.
  OpId add_variable(const Beside& beside, std::string_view initial_value) {
    const OpId variable = add(beside, "Variable", {}, {});
    const Operand handle = output(variable);
    saved_.push_back(variable);
    initialised_.push_back(add_chain(beside, initial_value, variable).back());
    restored_.push_back(add_chain(beside, restore_ops, variable).back());
    const OpId read = add(beside, "Identity", {handle}, {});
    (void)output(read);
    return read;
  }

  void copy(OpId id) {
    GraphOp op = old_.ops[id.index()];
    const std::vector<TensorId> outputs = std::move(op.outputs);
    op.outputs.clear();
    std::vector<OpId> after;
    for (const OpId before : op.after) after.push_back(op_now_[before.index()]);
    for (Operand& input : op.inputs) {
      if (input.is_parameter()) after.push_back(read_of(input.index));
      if (!input.is_tensor()) continue;
      const OpId producer = old_.tensors[input.index].producer;
      if (!producer.is_none() && !gate_[producer.index()].is_none()) after.push_back(gate_[producer.index()]);
      input = tensor_now_[input.index];
    }
    if (!op.forward_of.is_none()) op.forward_of = op_now_[op.forward_of.index()];
    FrameworkOps rule;
    if (op.phase == Phase::forward) {
      rule = framework_ops(old_, old_.ops[id.index()]);
      for (const OpId last : add_chain({op.name, op.layer, op.phase, {}, {}}, rule.forward, {})) after.push_back(last);
    }
    std::sort(after.begin(), after.end(), [](OpId a, OpId b) { return a.value < b.value; });
    after.erase(std::unique(after.begin(), after.end()), after.end());
    op.after = std::move(after);
    const Phase phase = op.phase;
    const OpId now = op_now_[id.index()] = result_.graph.add_op(std::move(op));
    for (const TensorId output : outputs) {
      const GraphTensor& tensor = old_.tensors[output.index()];
      tensor_now_[output.index()] = Operand::of(result_.graph.add_output(now, tensor.name, tensor.dtype, tensor.shape));
    }
    if (phase == Phase::forward) {
      // A gradient that passes through without an op has the bookkeeping too.
      if (is_training_ && last_backward_[id.index()].is_none() && passes_gradient(id)) add_gradient(id, now, id);
    } else if (phase == Phase::backward) {
      const OpId forward = old_.ops[id.index()].forward_of;
      if (last_backward_[forward.index()] == id) add_gradient(forward, now, id);
    } else {
      add_slots(id, now);
      updates_.push_back(now);
    }
  }

  // Whether a gradient reaches the op: if a producer of its inputs, or a parameter, has a gradient.
  [[nodiscard]] bool passes_gradient(OpId id) const {
    for (const Operand& input : old_.ops[id.index()].inputs) {
      if (input.is_parameter() && old_.parameters[input.index].trainable) return true;
      if (!input.is_tensor()) continue;
      const OpId producer = old_.tensors[input.index].producer;
      if (!producer.is_none() && !last_backward_[producer.index()].is_none()) return true;
    }
    return false;
  }

  // Adds the gradient chain of forward op `id` after `now`, the copy of `anchor`; readers of the anchor's outputs wait
  // for the chain.
  void add_gradient(OpId id, OpId now, OpId anchor) {
    const GraphOp& forward = old_.ops[id.index()];
    const std::string rule = framework_ops(old_, forward).backward;
    const Beside beside{"grad/" + forward.name, forward.layer, Phase::backward, op_now_[id.index()], {}};
    const std::vector<OpId> ends = add_chain(beside, rule, now);
    if (!ends.empty() && old_.ops[anchor.index()].phase == Phase::backward) gate_[anchor.index()] = ends.back();
  }

  // Adds the optimiser's state as variables in the layer of the update.
  void add_slots(OpId id, OpId now) {
    const GraphOp& update = old_.ops[id.index()];
    if (update.state_bytes == 0) return;
    const GraphOp& op = result_.graph.ops[now.index()];
    const Beside beside{op.name + "/slot", op.layer, Phase::forward, {}, {}};
    const int slots = update.type.ends_with("Adam") ? 2 : 1;
    for (int i = 0; i < slots; ++i) (void)add_variable(beside, initial_value_ops(1));
  }

  // Adds the ops that a session runs to initialise, to restore and to train.
  void finish() {
    if (saved_.empty()) return;
    const std::string layer = result_.graph.ops[saved_.front().index()].layer;
    const Beside step{"step", layer, Phase::forward, {}, {}};
    (void)add(step, "NoOp", {}, std::move(initialised_));
    (void)add(step, "NoOp", {}, std::move(restored_));
    if (updates_.empty()) return;
    const OpId all = add({"train", layer, Phase::update, {}, {}}, "NoOp", {}, std::move(updates_));
    (void)add_chain({"global_step", layer, Phase::update, {}, {}}, "Constant Constant Assign", all);
  }

  const Graph& old_;
  PassResult result_;
  std::vector<Operand> tensor_now_;
  std::vector<OpId> op_now_, last_backward_;
  std::vector<OpId> gate_;  // per op of the old graph: a further op for which its readers wait; or none
  std::vector<OpId> read_;  // per parameter: the read of its variable
  std::vector<OpId> saved_, initialised_, restored_, updates_;
  bool is_training_ = false;
  std::size_t added_ = 0;
};

}  // namespace

PassResult add_framework_ops(const Graph& graph) { return Expander(graph).run(); }

}  // namespace emplace::zoo
