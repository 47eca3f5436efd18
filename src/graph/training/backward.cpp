#include "graph/training/backward.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "graph/ops/op_row.hpp"
#include "graph/training/gradients.hpp"
#include "graph/training/variables.hpp"

namespace emplace {

namespace {

bool is_differentiable(DType dtype) { return dtype == DType::unknown || is_floating(dtype) || is_complex(dtype); }

// As many underscores as are needed before the prefixes of new names, so that no name of the graph starts with one.
std::string free_mark(const Graph& graph) {
  std::string mark;
  const auto taken = [&](const std::string& name) {
    for (const char* prefix : {"grad/", "gradsum/", "update/"})
      if (name.starts_with(mark + prefix)) return true;
    return false;
  };
  const auto any_taken = [&](const auto& items) {
    return std::any_of(items.begin(), items.end(), [&](const auto& item) { return taken(item.name); });
  };
  while (any_taken(graph.ops) || any_taken(graph.tensors)) mark += '_';
  return mark;
}

struct OptimizerRow {
  const char* name;
  const char* type;
  const char* sparse_type;
  int states;
};
constexpr OptimizerRow optimizers[] = {
    {"sgd", "ApplyGradientDescent", "SparseApplyGradientDescent", 0},
    {"momentum", "ApplyMomentum", "SparseApplyMomentum", 1},
    {"adam", "ApplyAdam", "SparseApplyAdam", 2},
};

const OptimizerRow& optimizer_called(const std::string& name) {
  for (const OptimizerRow& row : optimizers)
    if (name == row.name) return row;
  std::vector<std::string> names;
  for (const OptimizerRow& row : optimizers) names.emplace_back(row.name);
  throw InputError("", "unknown optimizer {}{}; there are: {}", quote(name), did_you_mean(name, names),
                   join(names, ", "));
}

}  // namespace

Backward::Backward(Graph& graph, const TrainingOptions& options)
    : graph_(graph),
      options_(options),
      mark_(free_mark(graph)),
      forward_ops_(graph.ops.size()),
      forward_tensors_(graph.tensors.size()),
      behind_(graph.tensors.size()),
      variable_(graph.parameters.size()),
      tensor_wanted_(graph.tensors.size(), 0),
      parameter_wanted_(graph.parameters.size(), 0),
      tensor_gradients_(graph.tensors.size()),
      parameter_gradients_(graph.parameters.size()),
      parameter_rows_(graph.parameters.size()),
      emitted_(graph.ops.size(), 0) {}

void Backward::run() {
  (void)optimizer_called(options_.optimizer);
  const std::vector<OpId> order = graph_.topological_order();
  find_variables(order);
  find_wanted(order);
  seed_outputs(order);
  for (std::size_t i = order.size(); i-- > 0;) {
    const OpId forward = order[i];
    bool reached = false;
    for (const TensorId output : op(forward).outputs) {
      auto& gradients = tensor_gradients_[output.index()];
      if (gradients.size() > 1) gradients = {add_up(forward, gradients, Operand::of(output), next_name(forward))};
      reached = reached || !gradients.empty();
    }
    if (!reached) continue;
    const OpRow* row = find_row(graph_.ops[forward.index()].type);
    (row != nullptr && row->gradient != nullptr ? row->gradient : generic_gradient)(*this, forward);
  }
  for (std::size_t i = 0; i < parameter_wanted_.size(); ++i) add_update(ParameterId{i});
}

void Backward::find_variables(const std::vector<OpId>& order) {
  for (const OpId id : order) {
    const GraphOp& forward = graph_.ops[id.index()];
    if (forward.inputs.empty() || forward.outputs.empty()) continue;
    const Operand& value = forward.inputs[0];
    if (is_variable(forward) && value.is_parameter())
      variable_[value.index] = id;
    else if (!hands_on(forward) || !behind(value).is_parameter())
      continue;
    for (const TensorId output : forward.outputs) behind_[output.index()] = behind(value);
  }
}

Operand Backward::behind(const Operand& operand) const {
  if (!operand.is_tensor() || operand.index >= behind_.size()) return operand;
  return behind_[operand.index].is_parameter() ? behind_[operand.index] : operand;
}

void Backward::find_wanted(const std::vector<OpId>& order) {
  for (std::size_t i = 0; i < graph_.parameters.size(); ++i)
    parameter_wanted_[i] = graph_.parameters[i].trainable && is_differentiable(graph_.parameters[i].dtype);
  for (const OpId id : order) {
    const GraphOp& forward = graph_.ops[id.index()];
    const OpRow* row = find_row(forward.type);
    if (row != nullptr && row->gradient == &no_gradient) continue;
    bool wanted = false;
    for (std::size_t i = 0; i < forward.inputs.size() && !wanted; ++i) wanted = wants(forward, i);
    if (!wanted) continue;
    for (const TensorId output : forward.outputs)
      tensor_wanted_[output.index()] = is_differentiable(graph_.tensors[output.index()].dtype);
  }
}

// The objective depends on the outputs that no op consumes. If none of an op's outputs is consumed, only the first
// counts: the others are by-products (masks, statistics, the log-probabilities of a loss).
void Backward::seed_outputs(const std::vector<OpId>& order) {
  bool seeded = false;
  for (const OpId id : order) {
    const GraphOp& last = graph_.ops[id.index()];
    const bool consumed = std::any_of(last.outputs.begin(), last.outputs.end(), [&](TensorId output) {
      return !graph_.tensors[output.index()].consumers.empty();
    });
    if (consumed || last.outputs.empty() || !tensor_wanted_[last.outputs[0].index()]) continue;
    const Operand output = Operand::of(last.outputs[0]);
    if (behind(output).is_parameter()) continue;  // a variable whose value no op uses
    contribute(output, emit_like(id, "OutputGrad", {output}, output));
    seeded = true;
  }
  if (!seeded)
    throw InputError(graph_.name, "there is nothing to train: no output of the graph depends on a trainable parameter");
}

Shape Backward::shape_of(const Operand& of) const {
  const Operand operand = behind(of);
  if (operand.is_tensor()) return graph_.tensors[operand.index].shape;
  return operand.is_parameter() ? graph_.parameters[operand.index].shape : Shape{};
}

DType Backward::dtype_of(const Operand& of) const {
  const Operand operand = behind(of);
  if (operand.is_tensor()) return graph_.tensors[operand.index].dtype;
  return operand.is_parameter() ? graph_.parameters[operand.index].dtype : DType::unknown;
}

bool Backward::wants(const GraphOp& forward, std::size_t input) const {
  if (input >= forward.inputs.size()) return false;
  const Operand operand = behind(forward.inputs[input]);
  if (operand.is_tensor()) return tensor_wanted_[operand.index] != 0;
  return operand.is_parameter() && parameter_wanted_[operand.index] != 0;
}

Operand Backward::output_gradient(const GraphOp& forward, std::size_t output) const {
  if (output >= forward.outputs.size()) return Operand::none();
  const auto& gradients = tensor_gradients_[forward.outputs[output].index()];
  return gradients.empty() ? Operand::none() : gradients.front();
}

std::string Backward::next_name(OpId forward) {
  // The number after the last '#' makes the names unique, whatever the forward names are.
  return fmt::format("{}grad/{}#{}", mark_, graph_.ops[forward.index()].name, emitted_[forward.index()]++);
}

OpId Backward::add(OpId forward, std::string name, std::string type, std::vector<Operand> inputs, Attributes attributes,
                   Phase phase) {
  GraphOp backward;
  backward.name = std::move(name);
  backward.type = std::move(type);
  backward.attributes = std::move(attributes);
  backward.inputs = std::move(inputs);
  backward.phase = phase;
  if (!forward.is_none()) {
    backward.layer = graph_.ops[forward.index()].layer;
    backward.module = graph_.ops[forward.index()].module;
    backward.forward_of = forward;
  }
  return graph_.add_op(std::move(backward));
}

Operand Backward::emit(OpId forward, std::string type, std::vector<Operand> inputs, const Shape& shape, DType dtype,
                       Attributes attributes) {
  const std::string name = next_name(forward);
  const OpId id = add(forward, name, std::move(type), std::move(inputs), std::move(attributes), Phase::backward);
  return Operand::of(graph_.add_output(id, name, dtype, shape));
}

Operand Backward::emit_like(OpId forward, std::string type, std::vector<Operand> inputs, const Operand& like,
                            Attributes attributes) {
  return emit(forward, std::move(type), std::move(inputs), shape_of(like), dtype_of(like), std::move(attributes));
}

std::vector<Operand> Backward::emit_several(OpId forward, std::string type, std::vector<Operand> inputs,
                                            const std::vector<Operand>& likes, Attributes attributes) {
  const std::string name = next_name(forward);
  const OpId id = add(forward, name, std::move(type), std::move(inputs), std::move(attributes), Phase::backward);
  std::vector<Operand> outputs;
  for (std::size_t i = 0; i < likes.size(); ++i)
    outputs.push_back(Operand::of(
        graph_.add_output(id, i == 0 ? name : fmt::format("{}:{}", name, i), dtype_of(likes[i]), shape_of(likes[i]))));
  return outputs;
}

Operand Backward::unbroadcast(OpId forward, const Operand& gradient, const Operand& like) {
  const Shape from = shape_of(gradient), to = shape_of(like);
  // If a rank is unknown, no broadcasting is assumed.
  if (from == to || !from.ranked || !to.ranked) return gradient;
  return emit_like(forward, "ReduceSum", {gradient}, like);
}

void Backward::contribute(const Operand& receiver, const Operand& gradient) {
  const Operand to = behind(receiver);
  if (to.is_tensor() && tensor_wanted_[to.index]) tensor_gradients_[to.index].push_back(gradient);
  if (to.is_parameter() && parameter_wanted_[to.index]) parameter_gradients_[to.index].push_back(gradient);
}

void Backward::contribute_rows(OpId forward, const Operand& parameter, const Operand& rows, const Operand& indices) {
  if (parameter_wanted_[parameter.index]) parameter_rows_[parameter.index].push_back({forward, rows, indices});
}

Operand Backward::add_up(OpId forward, const std::vector<Operand>& gradients, const Operand& like,
                         const std::string& name) {
  const OpId id = add(forward, name, "Sum", gradients, {}, Phase::backward);
  return Operand::of(graph_.add_output(id, name, dtype_of(like), shape_of(like)));
}

void Backward::add_update(ParameterId id) {
  auto& gradients = parameter_gradients_[id.index()];
  auto& rows = parameter_rows_[id.index()];
  if (gradients.empty() && rows.empty()) return;
  const Operand parameter = Operand::of(id);
  const OpId first_user = graph_.parameters[id.index()].users.front(), variable = variable_[id.index()];
  const bool sparse = gradients.empty() && rows.size() == 1;
  std::vector<Operand> inputs{variable.is_none() ? parameter
                                                 : Operand::of(graph_.ops[variable.index()].outputs.front())};
  if (sparse) {
    inputs.push_back(rows[0].rows);
    inputs.push_back(rows[0].indices);
  } else {
    for (const Rows& part : rows)
      gradients.push_back(emit_like(part.forward, "GatherGrad", {part.rows, part.indices}, parameter));
    const std::string name = fmt::format("{}gradsum/{}", mark_, graph_.parameters[id.index()].name);
    inputs.push_back(gradients.size() == 1 ? gradients[0] : add_up(first_user, gradients, parameter, name));
  }
  const OptimizerRow& optimizer = optimizer_called(options_.optimizer);
  const std::string name = fmt::format("{}update/{}", mark_, graph_.parameters[id.index()].name);
  const OpId update = add(first_user, name, sparse ? optimizer.sparse_type : optimizer.type, inputs, {}, Phase::update);
  // The same group name as share_parameters uses for the Variables that it makes.
  if (!variable.is_none()) {
    std::string& group = graph_.ops[variable.index()].colocate;
    if (group.empty()) group = fmt::format("variable/{}", graph_.parameters[id.index()].name);
    graph_.ops[update.index()].colocate = group;
  }
  const Bytes bytes = graph_.parameters[id.index()].bytes().value_or(0);
  for (int i = 0; i < optimizer.states; ++i)
    graph_.ops[update.index()].state_bytes = add_bytes(graph_.ops[update.index()].state_bytes, bytes);
}

PassResult expand_training(Graph forward, const TrainingOptions& options) {
  constexpr std::size_t growth = 4;  // a training step has about as many times the ops
  PassResult result{std::move(forward), {}};
  Graph& graph = result.graph;
  graph.ops.reserve(growth * graph.ops.size());
  graph.tensors.reserve(growth * graph.tensors.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    result.became.emplace_back(i);
    GraphOp& op = graph.ops[i];
    if (op.phase != Phase::forward)
      throw InputError(graph.name, "op {} is already part of a training step", quote(op.name));
    // In training, batch normalisation uses the statistics of the batch.
    if (op.type == "BatchNormalization") op.attributes["training_mode"] = std::int64_t{1};
  }
  Backward backward(result.graph, options);
  backward.run();
  return result;
}

}  // namespace emplace
