// Finds the row of a type, the cost of an op, and sums over a graph.
#include "graph/ops/op_table.hpp"

#include <algorithm>
#include <unordered_map>

#include "emplace/base/error.hpp"
#include "graph/ops/op_row.hpp"
#include "graph/ops/op_rules.hpp"
#include "graph/ops/weights.hpp"

namespace emplace {

namespace {

using RowMap = std::unordered_map<std::string_view, const OpRow*>;

const RowMap& row_map() {
  static const RowMap map = [] {
    RowMap rows;
    for (const auto vocabulary :
         {onnx_rows(), training_rows(), tensorflow_rows(), openvino_rows(), pytorch_rows(), ggml_rows()})
      for (const OpRow& row : vocabulary) {
        const bool is_new = rows.emplace(row.type, &row).second;
        EMPLACE_CHECK(is_new, "op type {} has two rows", row.type);
      }
    return rows;
  }();
  return map;
}

constexpr OpClass all_classes[] = {OpClass::matmul,      OpClass::convolution,   OpClass::depthwise, OpClass::recurrent,
                                   OpClass::elementwise, OpClass::normalisation, OpClass::reduction, OpClass::pooling,
                                   OpClass::movement,    OpClass::embedding,     OpClass::update,    OpClass::free,
                                   OpClass::other};

// Depthwise convolutions have one filter for each channel; such kernels reuse no data and reach a small part of the
// peak FLOPs.
bool has_one_channel_a_group(const OpView& op) {
  const std::int64_t groups = op.whole("group", 1);
  if (groups <= 1) return false;
  // Conv: weight is M x C/group x kernel; ConvGradWeight writes it.
  for (const Shape* weight : {&op.input_shape(1), &op.output_shape(0)})
    if (weight->ranked && weight->dims.size() >= 3 && weight->dims[1] == 1) return true;
  return false;
}

double real_of(const GraphOp& op, const char* attribute) {
  const auto found = op.attributes.find(attribute);
  const double* value = found == op.attributes.end() ? nullptr : std::get_if<double>(&found->second);
  return value == nullptr ? 0 : *value;
}

OpClass class_named(const GraphOp& op, const char* attribute) {
  const auto found = op.attributes.find(attribute);
  const auto* name = found == op.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  for (const OpClass cls : all_classes)
    if (name != nullptr && *name == name_of(cls)) return cls;
  return OpClass::other;
}

// Control flow (If, Loop, Scan): the reader of the file has summed its sub-graphs, times the number of trips.
bool states_body_cost(const GraphOp& op) { return op.attributes.contains("body_flops"); }

MemoryTraffic stated_body_cost(const OpView& op, OpCost& cost) {
  cost.cls = class_named(op.op(), "body_class");
  cost.flops = real_of(op.op(), "body_flops");
  cost.launches = 1 + std::max(0.0, real_of(op.op(), "body_launches"));
  if (op.whole("body_incomplete", 0) != 0) op.set_incomplete();
  const auto bytes = [&](const char* name) { return std::clamp<Bytes>(op.whole(name, 0), 0, total_limit); };
  return {bytes("body_bytes_read"), bytes("body_bytes_written")};
}

std::string key_of_stated_costs(const std::string& type) { return "stated_costs:" + type; }

// A gradient op makes the gradients by data and by weights: it launches each kernel of its forward op twice where there
// are several.
double launches_of_gradient(const OpCost& forward) { return forward.launches > 1 ? 2 * forward.launches : 1; }

double launches_of_row(const OpView& op, const OpRow& row) {
  if (row.flops == &recurrent_flops) return recurrent_launches(op);
  if (row.flops == &recurrent_stack_flops) return recurrent_stack_launches(op);
  if (row.cls != OpClass::recurrent || op.op().forward_of.is_none()) return 1;
  return launches_of_gradient(cost_of(op.graph(), op.op().forward_of));
}

// Of the `count` ops of this type that the merged op replaces: those without a cost.
std::uint32_t uncosted_parts(const GraphOp& op, const std::string& type, std::uint32_t count) {
  return is_known_type(type) ? 0 : count - std::min(count, stated_costs(op, type));
}

}  // namespace

std::uint32_t stated_costs(const GraphOp& op, const std::string& type) {
  if (op.merged_types.empty()) return op.type == type && states_body_cost(op) ? 1 : 0;
  const auto found = op.attributes.find(key_of_stated_costs(type));
  const auto* count = found == op.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return count == nullptr ? 0 : static_cast<std::uint32_t>(*count);
}

void set_stated_costs(GraphOp& op, const std::string& type, std::uint32_t count) {
  if (count > 0) op.attributes[key_of_stated_costs(type)] = std::int64_t{count};
}

const char* name_of(OpClass cls) {
  switch (cls) {
    case OpClass::matmul: return "matmul";
    case OpClass::convolution: return "convolution";
    case OpClass::depthwise: return "depthwise";
    case OpClass::recurrent: return "recurrent";
    case OpClass::elementwise: return "elementwise";
    case OpClass::normalisation: return "normalisation";
    case OpClass::reduction: return "reduction";
    case OpClass::pooling: return "pooling";
    case OpClass::movement: return "movement";
    case OpClass::embedding: return "embedding";
    case OpClass::update: return "update";
    case OpClass::free: return "free";
    case OpClass::other: return "other";
  }
  return "other";
}

std::span<const OpClass> op_classes() { return all_classes; }

const OpRow* find_row(std::string_view type) {
  const auto found = row_map().find(type);
  return found == row_map().end() ? nullptr : found->second;
}

bool is_known_type(std::string_view type) { return find_row(type) != nullptr; }

std::vector<std::string> known_op_types() {
  std::vector<std::string> types;
  for (const auto& [type, row] : row_map()) types.emplace_back(type);
  std::sort(types.begin(), types.end());
  return types;
}

OpCost cost_of(const Graph& graph, OpId id) {
  const OpView op(graph, graph.ops[id.index()]);
  const OpRow* row = find_row(op.op().type);
  OpCost cost;
  MemoryTraffic traffic;
  if (row != nullptr) {
    cost.cls = row->cls == OpClass::convolution && has_one_channel_a_group(op) ? OpClass::depthwise : row->cls;
    cost.flops = row->flops(op, row->factor);
    traffic = row->traffic(op);
    cost.launches = launches_of_row(op, *row);
  } else if (states_body_cost(op.op())) {
    traffic = stated_body_cost(op, cost);
  } else {
    cost.known_type = false;
    traffic = all_operands(op);
    // The `<Type>Grad` that expand_training emits for a type without a gradient rule.
    if (!op.op().forward_of.is_none() && op.op().phase == Phase::backward) {
      const OpCost forward = cost_of(graph, op.op().forward_of);
      cost.cls = forward.cls;
      cost.launches = launches_of_gradient(forward);
      cost.flops = twice_forward(op, 2);
    }
  }
  // Attributes of an untrusted file (negative kernels, products beyond any double) must not make times negative.
  if (!(cost.flops >= 0)) cost.flops = 0;
  cost.bytes_read = traffic.read;
  cost.bytes_written = traffic.written;
  cost.known_shapes = !op.incomplete();
  for (const auto& [type, count] : op.op().merged_types)
    cost.known_type = cost.known_type && uncosted_parts(op.op(), type, count) == 0;
  if (op.op().before_step) return {.cls = cost.cls, .launches = 0};
  return cost;
}

Bytes resident_bytes(const Graph& graph, OpId id) {
  const GraphOp& op = graph.ops[id.index()];
  std::vector<std::uint32_t> parameters;
  for (const Operand& input : op.inputs)
    if (input.is_parameter()) parameters.push_back(input.index);
  std::sort(parameters.begin(), parameters.end());
  parameters.erase(std::unique(parameters.begin(), parameters.end()), parameters.end());
  Bytes bytes = op.state_bytes;
  for (const std::uint32_t parameter : parameters)
    bytes = add_bytes(bytes, graph.parameters[parameter].bytes().value_or(0));
  return bytes;
}

GraphStatistics statistics(const Graph& graph) {
  GraphStatistics sums;
  sums.ops = graph.ops.size();
  sums.cut_edges = graph.cut_edges.size();
  sums.edges = graph.edge_count() + sums.cut_edges;
  for (const GraphTensor& tensor : graph.tensors) {
    if (!tensor.producer.is_none()) {
      ++sums.tensors;
      if (tensor.shape.is_static()) ++sums.static_tensors;
    }
    if (!tensor.bytes()) sums.unknown_tensors.push_back(tensor.name);
  }
  const std::vector<bool> weights = find_weights(graph);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const GraphParameter& parameter = graph.parameters[i];
    if (!parameter.bytes()) sums.unknown_tensors.push_back(parameter.name);
    const std::int64_t elements = parameter.shape.elements().value_or(0);
    if (!parameter.folded) sums.parameters = add_bytes(sums.parameters, elements);
    if (weights[i]) sums.weights = add_bytes(sums.weights, elements);
  }
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const OpCost cost = cost_of(graph, OpId{i});
    sums.flops += cost.flops;
    if (cost.flops > 0) sums.flops_by_class[cost.cls] += cost.flops;
    const Bytes bytes = add_bytes(cost.bytes_read, cost.bytes_written);
    sums.bytes = add_bytes(sums.bytes, bytes);
    if (cost.known_type) continue;
    sums.uncosted_bytes = add_bytes(sums.uncosted_bytes, bytes);
    if (graph.ops[i].merged_types.empty()) ++sums.uncosted_ops[graph.ops[i].type];
    for (const auto& [type, count] : graph.ops[i].merged_types)
      if (const std::uint32_t parts = uncosted_parts(graph.ops[i], type, count); parts > 0)
        sums.uncosted_ops[type] += parts;
  }
  return sums;
}

}  // namespace emplace
