#include <fmt/core.h>

#include <unordered_set>
#include <utility>

#include "graph/passes/passes.hpp"

namespace emplace {

namespace {

// Whether the op updates the parameter. An update also reads constants, such as its learning rate.
bool is_update_of(const GraphOp& op, const GraphParameter& parameter) {
  return op.phase == Phase::update && parameter.trainable;
}

// The ops that compute with the parameter, without its update.
std::vector<OpId> working_users(const Graph& graph, const GraphParameter& parameter) {
  std::vector<OpId> users;
  for (const OpId user : parameter.users)
    if (!is_update_of(graph.ops[user.index()], parameter)) users.push_back(user);
  return users;
}

}  // namespace

PassResult share_parameters(Graph old) {
  PassResult result;
  Graph& graph = result.graph;
  graph.name = old.name;
  // A parameter may add an op with its output.
  graph.ops.reserve(old.ops.size() + old.parameters.size());
  graph.tensors.reserve(old.tensors.size() + old.parameters.size());
  std::unordered_set<std::string> names;
  const auto note = [&](const std::string& name) {
    if (name.starts_with("variable/")) names.insert(name);
  };
  for (const GraphOp& op : old.ops) note(op.name);
  for (const GraphTensor& tensor : old.tensors) note(tensor.name);
  const auto free_name = [&](std::string name) {
    while (!names.insert(name).second) name += '_';
    return name;
  };

  for (const GraphParameter& parameter : old.parameters) add_parameter_like(graph, parameter, parameter.shape);
  for (const GraphTensor& tensor : old.tensors)
    if (tensor.producer.is_none()) graph.add_input(tensor.name, tensor.dtype, tensor.shape);

  // For each parameter: the operand that replaces it at its working users and at its update, and their co-location
  // group.
  std::vector<Operand> working(old.parameters.size()), updated(old.parameters.size());
  std::vector<std::string> group(old.parameters.size());
  std::vector<std::string> user_group(old.ops.size());
  for (std::size_t i = 0; i < old.parameters.size(); ++i) {
    const GraphParameter& parameter = old.parameters[i];
    const std::vector<OpId> users = working_users(old, parameter);
    const bool has_update = users.size() < parameter.users.size();
    working[i] = Operand::of(ParameterId{i});
    // The only user is a Variable of the file, whose output already stands for the parameter.
    if (users.size() == 1 && !has_update && old.ops[users[0].index()].type == "Variable") {
      working[i] = Operand::none();
      continue;
    }
    if (users.size() == 1) {
      if (!has_update) continue;
      // The update is co-located with the only user; the resident bytes are counted at that user only.
      const GraphOp& user = old.ops[users[0].index()];
      std::string& name = user_group[users[0].index()];
      if (name.empty()) name = user.colocate.empty() ? fmt::format("op/{}", user.name) : user.colocate;
      group[i] = name;
      continue;
    }
    if (users.empty()) {
      updated[i] = working[i];
      continue;
    }
    GraphOp variable;
    variable.name = free_name(fmt::format("variable/{}", parameter.name));
    variable.type = "Variable";
    variable.layer = old.ops[users[0].index()].layer;
    variable.module = old.ops[users[0].index()].module;
    variable.attributes["parameter"] = parameter.name;
    if (has_update) group[i] = variable.colocate = fmt::format("variable/{}", parameter.name);
    const std::string name = variable.name;
    const OpId id = graph.add_op(std::move(variable));
    const bool in_blocks = parameter.stored_bytes > 0;
    working[i] = updated[i] =
        Operand::of(graph.add_output(id, name, in_blocks ? DType::u8 : parameter.dtype,
                                     in_blocks ? Shape{parameter.stored_bytes} : parameter.shape));
  }

  std::vector<Operand> tensor_now(old.tensors.size());
  std::uint32_t inputs = 0;
  for (std::size_t i = 0; i < old.tensors.size(); ++i)
    if (old.tensors[i].producer.is_none()) tensor_now[i] = Operand::of(TensorId{inputs++});
  std::vector<OpId> op_now(old.ops.size());
  // The ops and tensors are moved, because a graph of millions of ops is large.
  for (const OpId old_id : old.topological_order()) {
    GraphOp op = std::move(old.ops[old_id.index()]);
    const std::vector<TensorId> outputs = std::move(op.outputs);
    op.outputs.clear();
    if (!user_group[old_id.index()].empty()) op.colocate = user_group[old_id.index()];
    for (Operand& input : op.inputs) {
      if (input.is_tensor()) {
        input = tensor_now[input.index];
      } else if (input.is_parameter()) {
        const std::uint32_t parameter = input.index;
        const bool update = is_update_of(op, old.parameters[parameter]);
        if (update && !group[parameter].empty()) op.colocate = group[parameter];
        input = update ? updated[parameter] : working[parameter];
      }
    }
    for (OpId& before : op.after) before = op_now[before.index()];
    if (!op.forward_of.is_none()) op.forward_of = op_now[op.forward_of.index()];
    const OpId id = op_now[old_id.index()] = graph.add_op(std::move(op));
    for (const TensorId output : outputs) {
      GraphTensor& tensor = old.tensors[output.index()];
      std::vector<OpId>().swap(tensor.consumers);
      tensor_now[output.index()] =
          Operand::of(graph.add_output(id, std::move(tensor.name), tensor.dtype, std::move(tensor.shape)));
    }
  }
  result.became = std::move(op_now);
  return result;
}

}  // namespace emplace
