// Nodes that call sub-graphs: those that run one once are replaced by its nodes, conditions and loops are one op with
// the cost of their bodies.
#include <algorithm>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/pytorch/graph.hpp"

namespace emplace::formats {

using json::Place;
using json::Value;

namespace {

constexpr int deepest_program = 16;

bool is_loop_over_data(const AtenTarget& target) {
  return target.name == "scan" || target.name == "map" || target.name == "map_impl" ||
         target.name == "associative_scan";
}

}  // namespace

void GraphFromProgram::add_control_flow(const ProgramNode& node, const AtenTarget& target, const std::string& where,
                                        Scope& scope) {
  if (scope.depth >= deepest_program)
    throw InputError(where, "sub-graphs are nested deeper than {} levels", deepest_program);
  std::vector<std::size_t> graphs;
  for (std::size_t i = 0; i < node.arguments.size(); ++i)
    if (node.arguments[i].graph) graphs.push_back(i);
  if (graphs.size() == 1 && !is_loop_over_data(target)) return inline_subgraph(node, graphs[0], where, scope);

  GraphOp op;
  op.type = target.name == "cond"         ? "If"
            : target.name == "while_loop" ? "Loop"
            : is_loop_over_data(target)   ? "Scan"
                                          : target.full_name();
  op.inputs = operands_of(node, {}, where, scope);
  BodyCost cost;
  for (const std::size_t i : graphs) {
    const BodyCost each = cost_of_subgraph(*node.arguments[i].graph, where, scope.depth + 1);
    if (op.type == "If") {
      if (each.flops >= cost.flops) cost = each;
    } else if (op.type == "Scan") {
      // scan(body, states, data, ...); the others have the data first.
      const std::size_t data = i + (target.name == "scan" ? 2 : 1);
      const bool has_data = data < node.arguments.size() && !node.arguments[data].tensors.empty();
      const std::int64_t trips = has_data ? first_size(node.arguments[data].tensors[0], where, scope) : -1;
      add_cost(cost, each, trips < 0 ? 1 : static_cast<double>(trips));
      cost.is_complete = cost.is_complete && trips >= 0;
    } else {
      add_cost(cost, each, 1);
      cost.is_complete = cost.is_complete && op.type != "Loop";
    }
  }
  if (op.type == "If" || op.type == "Loop") ++unknown_trips_;
  if (!graphs.empty()) set_body_cost(op, cost);
  add(std::move(op), node, where, scope);
}

// The sub-graph's tensors are those of the node's arguments after it, in order.
void GraphFromProgram::inline_subgraph(const ProgramNode& node, std::size_t position, const std::string& where,
                                       Scope& scope) {
  const Value graph = *node.arguments[position].graph;
  const Place place(where);
  std::vector<std::string_view> given;
  for (std::size_t i = position + 1; i < node.arguments.size(); ++i)
    given.insert(given.end(), node.arguments[i].tensors.begin(), node.arguments[i].tensors.end());
  const auto inputs = read_tensor_names(need_member(graph, place, "inputs"), Place(place, "inputs"));
  const auto outputs = read_tensor_names(need_member(graph, place, "outputs"), Place(place, "outputs"));
  if (inputs.size() != given.size() || outputs.size() < node.outputs.size())
    throw InputError(where, "its sub-graph has {} inputs and {} outputs, the node {} and {}", inputs.size(),
                     outputs.size(), given.size(), node.outputs.size());
  Scope inner;
  inner.prefix = fmt::format("{}{}.", scope.prefix, node.name);
  inner.depth = scope.depth + 1;
  need_member(graph, place, "tensor_values")
      .each_member(Place(place, "tensor_values"),
                   [&](std::string_view name, Value value) { inner.values.emplace(name, value); });
  for (std::size_t i = 0; i < inputs.size(); ++i) inner.operands[inputs[i]] = operand(given[i], where, scope);
  add_nodes(graph, place, inner);
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    scope.operands[node.outputs[i]] = operand(outputs[i], where, inner);
}

BodyCost GraphFromProgram::cost_of_subgraph(Value graph, const std::string& where, int depth) const {
  GraphFromProgram body(program_, storage_of_weight_, file_, options_);
  body.symbols_ = symbols_;
  const Place place(where);
  Scope scope;
  scope.depth = depth;
  need_member(graph, place, "tensor_values")
      .each_member(Place(place, "tensor_values"),
                   [&](std::string_view name, Value value) { scope.values.emplace(name, value); });
  for (const std::string_view name : read_tensor_names(need_member(graph, place, "inputs"), Place(place, "inputs"))) {
    GraphTensor tensor = body.tensor_of(name, where, scope);
    scope.operands[name] = Operand::of(body.graph_.add_input(std::string(name), tensor.dtype, std::move(tensor.shape)));
  }
  body.add_nodes(graph, place, scope);
  BodyCost cost;
  for (std::size_t i = 0; i < body.graph_.ops.size(); ++i) add_cost(cost, body_cost_of(body.graph_, OpId{i}), 1);
  return cost;
}

std::int64_t GraphFromProgram::first_size(std::string_view tensor, const std::string& where, const Scope& scope) const {
  const Shape shape = tensor_of(tensor, where, scope).shape;
  return shape.dims.empty() ? -1 : shape.dims[0];
}

}  // namespace emplace::formats
