// Building a graph and counting its edges; every change updates both directions of the lists.
#include "emplace/graph/graph.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace {

namespace {

// Ops are linked in ascending order, so a repeated consumer can only be the last one.
void add_once(std::vector<OpId>& list, OpId op) {
  if (list.empty() || list.back() != op) list.push_back(op);
}

void link_inputs(Graph& graph, OpId id) {
  for (const Operand& input : graph.ops[id.index()].inputs) {
    if (input.is_tensor()) {
      EMPLACE_CHECK(input.index < graph.tensors.size());
      add_once(graph.tensors[input.index].consumers, id);
    } else if (input.is_parameter()) {
      EMPLACE_CHECK(input.index < graph.parameters.size());
      add_once(graph.parameters[input.index].users, id);
    }
  }
}

}  // namespace

TensorId Graph::add_input(std::string tensor_name, DType dtype, Shape shape) {
  const TensorId id{tensors.size()};
  tensors.push_back({std::move(tensor_name), dtype, std::move(shape), OpId{}, {}});
  return id;
}

ParameterId Graph::add_parameter(std::string parameter_name, DType dtype, Shape shape, bool trainable) {
  const ParameterId id{parameters.size()};
  parameters.push_back({std::move(parameter_name), dtype, std::move(shape), trainable, {}});
  return id;
}

OpId Graph::add_op(GraphOp op) {
  const OpId id{ops.size()};
  EMPLACE_CHECK(op.outputs.empty(), "outputs of {} are added with add_output", op.name);
  for (const OpId before : op.after) EMPLACE_CHECK(before.index() < ops.size());
  ops.push_back(std::move(op));
  link_inputs(*this, id);
  return id;
}

TensorId Graph::add_output(OpId op, std::string tensor_name, DType dtype, Shape shape) {
  EMPLACE_CHECK(op.index() < ops.size());
  const TensorId id{tensors.size()};
  tensors.push_back({std::move(tensor_name), dtype, std::move(shape), op, {}});
  ops[op.index()].outputs.push_back(id);
  return id;
}

void Graph::relink(const std::string& place) {
  for (GraphTensor& tensor : tensors) {
    tensor.producer = OpId{};
    tensor.consumers.clear();
  }
  for (GraphParameter& parameter : parameters) parameter.users.clear();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    for (const TensorId output : ops[i].outputs) {
      EMPLACE_CHECK(output.index() < tensors.size());
      GraphTensor& tensor = tensors[output.index()];
      if (!tensor.producer.is_none())
        throw InputError(place, "tensor {} is an output of op {} and again of op {}", quote(tensor.name),
                         quote(ops[tensor.producer.index()].name), quote(ops[i].name));
      tensor.producer = OpId{i};
    }
    link_inputs(*this, OpId{i});
  }
}

std::size_t Graph::edge_count() const {
  std::size_t edges = 0;
  std::vector<OpId> producers;
  for (const GraphOp& op : ops) {
    producers.assign(op.after.begin(), op.after.end());
    for (const Operand& input : op.inputs)
      if (input.is_tensor() && !tensors[input.index].producer.is_none())
        producers.push_back(tensors[input.index].producer);
    std::sort(producers.begin(), producers.end());
    edges += static_cast<std::size_t>(std::unique(producers.begin(), producers.end()) - producers.begin());
  }
  return edges;
}

}  // namespace emplace
