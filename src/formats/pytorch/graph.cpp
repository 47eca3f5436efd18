#include "formats/pytorch/graph.hpp"

#include <algorithm>
#include <cctype>

#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats {

using json::Place;
using json::Value;

namespace {

constexpr std::int64_t schema_major = 8;  // of PyTorch 2.6 and later

void check_version(Value program, const std::string& file) {
  const Place place(file), at(place, "schema_version");
  const auto version = find_member(program, place, "schema_version");
  if (!version) throw InputError(file, "is no program of torch.export: it has no schema_version");
  const std::int64_t major = need_member(*version, at, "major").whole(Place(at, "major"), 0, 1 << 20);
  if (major != schema_major)
    throw InputError(file,
                     "was written in version {} of the schema of torch.export; version {} (PyTorch 2.6 and later) is "
                     "read: export the model again",
                     major, schema_major);
}

// The part of the model that belongs together: the module's path up to its first number ("encoder.layer.3"), else its
// first part ("pooler").
std::string layer_of(std::string_view module) {
  const std::vector<std::string> parts = split(module, '.');
  const auto number = std::ranges::find_if(parts, [](const std::string& part) {
    return !part.empty() && std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c) != 0; });
  });
  const auto end = number == parts.end() ? parts.begin() + 1 : number + 1;
  return join(std::vector<std::string>(parts.begin(), end), "/");
}

std::string path_of(std::string_view module) {
  std::string path(module);
  std::ranges::replace(path, '.', '/');
  return path;
}

bool has_attribute(const GraphOp& op, const char* name, std::int64_t value) {
  const auto found = op.attributes.find(name);
  const auto* whole = found == op.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return whole != nullptr && *whole == value;
}

// Lists of one number stand for all dimensions of the window.
void complete_window(GraphOp& op, const AtenTarget& target) {
  const auto found = op.attributes.find("kernel_shape");
  if (found == op.attributes.end()) return;
  auto* kernel = std::get_if<std::vector<std::int64_t>>(&found->second);
  const std::size_t dimensions = target.name.find("3d") != std::string::npos   ? 3
                                 : target.name.find("2d") != std::string::npos ? 2
                                                                               : 1;
  if (kernel != nullptr && kernel->size() == 1) kernel->resize(dimensions, kernel->front());
}

}  // namespace

Graph GraphFromProgram::build() {
  check_version(program_, file_);
  const Place place(file_), module_place(place, "graph_module"), graph_place(module_place, "graph");
  const Value module = need_member(program_, place, "graph_module");
  const Value graph = need_member(module, module_place, "graph");
  graph_.name = file_.substr(file_.find_last_of('/') + 1);
  Scope scope;
  need_member(graph, graph_place, "tensor_values")
      .each_member(Place(graph_place, "tensor_values"),
                   [&](std::string_view name, Value value) { scope.values.emplace(name, value); });
  read_signature(need_member(module, module_place, "signature"), Place(module_place, "signature"), scope);
  bind_symbols(scope);
  check_ranges();
  add_inputs(scope);
  add_nodes(graph, graph_place, scope);
  if (graph_.ops.empty()) throw InputError(file_, "the program computes nothing: it has no nodes that give tensors");
  warn_open_inputs(scope);
  if (unknown_trips_ > 0)
    log_warning(
        "{}: ops of control flow (cond, while_loop): {}; a condition counts as its branch with more FLOPs, a "
        "loop as one trip",
        file_, unknown_trips_);
  graph_.validate(file_);
  return std::move(graph_);
}

void GraphFromProgram::add_nodes(Value graph, const Place& place, Scope& scope) {
  const Place at(place, "nodes");
  need_member(graph, place, "nodes").each_element(at, [&](std::size_t i, Value value) {
    const ProgramNode node = read_program_node(value, Place(at, i));
    add_node(node, fmt::format("{}: node {}", file_, quote(node.name)), scope);
  });
}

// Nodes without tensors compute sizes, or check what was assumed when the program was made.
void GraphFromProgram::add_node(const ProgramNode& node, const std::string& where, Scope& scope) {
  const AtenTarget target(node.target);
  if (node.outputs.empty()) return;
  if (target.is_control_flow())
    add_control_flow(node, target, where, scope);
  else
    add_op(node, target, where, scope);
}

void GraphFromProgram::add_op(const ProgramNode& node, const AtenTarget& target, const std::string& where,
                              Scope& scope) {
  const AtenOpName name = graph_op_name(target);
  GraphOp op;
  op.type = name.type.empty() ? target.full_name() : std::string(name.type);
  for (const ProgramArgument& argument : node.arguments)
    if (argument.attribute) op.attributes[attribute_of_argument(argument.name)] = *argument.attribute;
  op.inputs = operands_of(node, name, where, scope);
  complete_window(op, target);
  if (target.name == "linear") op.attributes["transB"] = std::int64_t{1};
  if (op.type == "Conv" && has_attribute(op, "transposed", 1)) op.type = "ConvTranspose";
  if (op.type == "Dropout" && has_attribute(op, "training_mode", 0)) op.type = "Identity";
  const std::string_view first =
      node.arguments.empty() || node.arguments[0].tensors.empty() ? std::string_view() : node.arguments[0].tensors[0];
  const bool may_copy = target.name == "reshape" || target.name == "flatten" || target.name == "contiguous";
  if (may_copy && !is_contiguous(first, scope)) op.type = "aten.contiguous";
  if (op.type == "Cast" && !first.empty() &&
      tensor_of(first, where, scope).dtype == tensor_of(node.outputs[0], where, scope).dtype)
    op.type = "Identity";
  if (target.name == "index" && op.inputs.size() == 2 && op.inputs[1].kind != Operand::Kind::none) op.type = "Gather";
  const bool is_view_of_first = is_view(op.type) && !op.inputs.empty();
  const Operand overwritten = op.inputs.empty() ? Operand::none() : op.inputs[0];
  const OpId id = add(std::move(op), node, where, scope);
  if (target.in_place) writer_[root_of(overwritten)] = id;
  if (!target.in_place && !is_view_of_first) return;
  for (const TensorId output : graph_.ops[id.index()].outputs)
    roots_[root_of(Operand::of(output))] = root_of(overwritten);
}

// Adds the op under the node's name with the node's outputs.
OpId GraphFromProgram::add(GraphOp op, const ProgramNode& node, const std::string& where, Scope& scope) {
  op.name = scope.prefix + std::string(node.name);
  op.module = path_of(node.module);
  op.layer = layer_of(node.module);
  while (!op.inputs.empty() && op.inputs.back().kind == Operand::Kind::none) op.inputs.pop_back();
  wait_for_writers(op);
  memory_.use(sizeof(GraphOp) + 4 * op.name.size() + 2 * op.module.size() + 256 + 192 * op.attributes.size() +
              16 * op.inputs.size());
  const OpId id = graph_.add_op(std::move(op));
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    GraphTensor tensor = tensor_of(node.outputs[k], where, scope);
    memory_.use(320 + node.name.size() + 32 * tensor.shape.dims.size());
    const std::string name = scope.prefix + std::string(node.outputs[k]);
    const TensorId output = graph_.add_output(id, name, tensor.dtype, std::move(tensor.shape));
    scope.operands[node.outputs[k]] = Operand::of(output);
  }
  return id;
}

std::vector<Operand> GraphFromProgram::operands_of(const ProgramNode& node, const AtenOpName& name,
                                                   const std::string& where, Scope& scope) {
  std::vector<Operand> operands;
  const auto add_all = [&](const ProgramArgument& argument) {
    for (const std::string_view tensor : argument.tensors)
      operands.push_back(tensor.empty() ? Operand::none() : operand(tensor, where, scope));
  };
  const std::vector<std::string> first = name.operands.empty() ? std::vector<std::string>() : split(name.operands, ' ');
  for (const std::string& wanted : first) {
    const auto found = std::ranges::find(node.arguments, wanted, &ProgramArgument::name);
    if (found == node.arguments.end() || found->tensors.empty())
      operands.push_back(Operand::none());
    else
      add_all(*found);
  }
  for (const ProgramArgument& argument : node.arguments)
    if (std::ranges::find(first, argument.name) == first.end()) add_all(argument);
  return operands;
}

Operand GraphFromProgram::operand(std::string_view name, const std::string& where, Scope& scope) {
  if (const auto found = scope.operands.find(name); found != scope.operands.end()) return found->second;
  const auto weight = scope.weights.find(name);
  if (weight == scope.weights.end()) throw InputError(where, "reads {}, which nothing before it gives", quote(name));
  const auto storage = storage_of_weight_.find(weight->second.name);
  GraphTensor tensor = tensor_of(name, where, scope);
  if (storage != storage_of_weight_.end())
    if (const auto twin = stored_weights_.find(storage->second);
        twin != stored_weights_.end() && graph_.parameters[twin->second.index].shape == tensor.shape)
      return scope.operands[name] = twin->second;
  memory_.use(192 + 2 * weight->second.name.size());
  const Operand made = Operand::of(graph_.add_parameter(std::string(weight->second.name), tensor.dtype,
                                                        std::move(tensor.shape), weight->second.trainable));
  graph_.parameters[made.index].no_weight = !weight->second.trainable;
  if (storage != storage_of_weight_.end()) stored_weights_.emplace(storage->second, made);
  return scope.operands[name] = made;
}

GraphTensor GraphFromProgram::tensor_of(std::string_view name, const std::string& where, const Scope& scope) const {
  const auto found = scope.values.find(name);
  if (found == scope.values.end()) throw InputError(where, "tensor_values has no {}", quote(name));
  const Place file(where), place(file, name), sizes(place, "sizes"), dtype(place, "dtype");
  GraphTensor tensor;
  tensor.dtype = dtype_of_program(need_member(found->second, place, "dtype").whole(dtype, 0, 1 << 20));
  tensor.shape = sizes_of(need_member(found->second, place, "sizes"), sizes);
  return tensor;
}

// {"as_int": 3}, or {"as_expr": {"expr_str": "Symbol('s0')"}}
Shape GraphFromProgram::sizes_of(Value list, const Place& place) const {
  Shape shape = Shape::scalar();
  list.each_element(place, [&](std::size_t i, Value element) {
    const Place at(place, i), inner(at, "as_expr"), text(inner, "expr_str");
    if (i >= 254) throw InputError(place.str(), "a shape has more than 254 dimensions");
    if (const auto whole = find_member(element, at, "as_int")) {
      shape.dims.push_back(whole->whole(Place(at, "as_int"), 0, total_limit));
      return;
    }
    const Value expression = need_member(need_member(element, at, "as_expr"), inner, "expr_str");
    shape.dims.push_back(value_of_size(expression.text(text), symbols_).value_or(Shape::unknown_dimension));
  });
  return shape;
}

// Whether the tensor's elements lie in memory in the order of its dimensions; true if that is not known.
bool GraphFromProgram::is_contiguous(std::string_view name, const Scope& scope) const {
  const auto found = scope.values.find(name);
  if (found == scope.values.end()) return true;
  const Place file(file_), place(file, name);
  const auto list = find_member(found->second, place, "strides");
  if (!list) return true;
  const Shape sizes = sizes_of(need_member(found->second, place, "sizes"), Place(place, "sizes"));
  const Shape strides = sizes_of(*list, Place(place, "strides"));
  if (sizes.dims.size() != strides.dims.size() || !sizes.is_static() || !strides.is_static()) return true;
  std::int64_t expected = 1;
  for (std::size_t i = sizes.dims.size(); i-- > 0;) {
    if (sizes.dims[i] == 1) continue;
    if (strides.dims[i] != expected) return false;
    if (sizes.dims[i] == 0 || expected > total_limit / std::max<std::int64_t>(1, sizes.dims[i])) return true;
    expected *= sizes.dims[i];
  }
  return true;
}

// Operands are told apart by kind and position.
std::uint64_t GraphFromProgram::root_of(const Operand& operand) const {
  const std::uint64_t own = std::uint64_t{operand.is_parameter() ? 1U : 0U} << 32 | operand.index;
  const auto found = roots_.find(own);
  return found == roots_.end() ? own : found->second;
}

// The op reads data that another op has overwritten: it runs after that op, also where it reads an older view.
void GraphFromProgram::wait_for_writers(GraphOp& op) const {
  for (const Operand& input : op.inputs) {
    if (input.kind == Operand::Kind::none) continue;
    const auto found = writer_.find(root_of(input));
    if (found == writer_.end()) continue;
    const bool reads_it = std::ranges::any_of(op.inputs, [&](const Operand& other) {
      return other.is_tensor() && graph_.tensors[other.index].producer == found->second;
    });
    if (!reads_it && std::ranges::find(op.after, found->second) == op.after.end()) op.after.push_back(found->second);
  }
}

}  // namespace emplace::formats
