#include "formats/tensorflow/graph.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/constant_values.hpp"
#include "formats/onnx/fix_inputs.hpp"
#include "formats/propagate_shapes.hpp"
#include "formats/tensorflow/ops.hpp"

namespace emplace::formats {

namespace {

// The names in the "loc:@name" entries of _class: the node must be on the device of these nodes.
std::vector<std::string> co_location(const TfNode& node) {
  std::vector<std::string> names;
  if (const TfValue* groups = node.find("_class"))
    for (const std::string& text : groups->texts)
      if (text.starts_with("loc:@")) names.push_back(text.substr(5));
  return names;
}

struct InputName {
  std::string_view node;
  std::uint32_t position = 0;
  bool control = false;
};

InputName parse_input(std::string_view text) {
  InputName input{text};
  if (text.starts_with('^')) return {text.substr(1), 0, true};
  const std::size_t colon = text.rfind(':');
  std::int64_t position = 0;
  if (colon != std::string_view::npos && parse_number(text.substr(colon + 1), position) && position >= 0 &&
      position < OpId::none_value)
    return {text.substr(0, colon), static_cast<std::uint32_t>(position), false};
  return input;
}

}  // namespace

std::string GraphFromTensorflow::place(std::size_t op) const {
  return fmt::format("{}: node {}", file_, quote(graph_.ops[op].name));
}

void GraphFromTensorflow::add(TfNode node) {
  const std::size_t i = graph_.ops.size();
  if (node.name.empty()) throw InputError(file_, "node {} has no name", i);
  if (node.op.empty()) throw InputError(file_, "node {} has no op", quote(node.name));
  if (const auto first = names_.add(node.name, static_cast<std::uint32_t>(i), name_at()))
    throw InputError(file_, "nodes {} and {} are both named {}", *first, i, quote(node.name));
  if (calls_.contains(node.name)) throw InputError(file_, "two nodes are named {}", quote(node.name));
  memory_.use(sizeof(GraphOp) + sizeof(Source) + 3 * node.name.size() + node.op.size() + 256);

  const std::string here = fmt::format("{}: node {}", file_, quote(node.name));
  for (const auto& [name, value] : node.attributes) {
    if (value.kind == TfValue::Kind::type || value.kind == TfValue::Kind::tensor)
      static_cast<void>(dtype_of_tensorflow(value.type, here));
    memory_.use(160 + 8 * value.wholes.size() +
                (name == "_output_shapes" ? value.shapes.size() * (240 + node.name.size()) : 0));
    if (name == "_output_shapes")
      for (const Shape& shape : value.shapes) memory_.use(16 * shape.dims.size());
  }
  for (const std::string& input : node.inputs) memory_.use(input.size() + 96);

  GraphOp op;
  op.name = node.name;
  op.type = graph_op_name(node.op).type;
  op.attributes = attributes_of(node);
  if (!node.device.empty()) op.attributes["device"] = node.device;
  // Ops with "Apply" in their type are updates of a training step.
  if (op.type.find("Apply") != std::string::npos) op.phase = Phase::update;

  Source source;
  source.op = node.op;
  source.inputs = std::move(node.inputs);
  source.colocated_with = co_location(node);
  source.gives_handle = gives_handle(node);
  if (const TfValue* stated = node.find("_output_shapes")) {
    source.states_outputs = any_states_outputs_ = true;
    source.shapes = stated->shapes;
  }
  std::size_t types = std::max<std::size_t>(source.shapes.size(), 2);
  for (const char* list : {"output_types", "component_types", "Tout", "dtypes", "Toutput_types"})
    if (const TfValue* value = node.find(list)) types = std::max(types, value->types.size());
  for (std::size_t k = 0; k < types; ++k) source.dtypes.push_back(output_dtype(node, k, here));

  const auto state_shape = [&](const Shape& shape) {
    if (source.shapes.empty()) source.shapes.emplace_back();
    if (!source.shapes[0].ranked) source.shapes[0] = shape;
  };
  if (const TfValue* value = node.find("value"); node.op == "Const" && value != nullptr) {
    if (!value->shape.is_static())
      throw InputError(here, "its value has the open or negative shape {}", value->shape.str());
    state_shape(value->shape);
    source.dtypes[0] = dtype_of_tensorflow(value->type, here);
    if (!value->wholes.empty()) op.attributes[constant_attribute] = value->wholes;
    op.inputs.push_back(Operand::of(graph_.add_parameter(node.name, source.dtypes[0], value->shape, false)));
  } else if (const TfValue* shape = node.find("shape"); shape != nullptr && holds_variable(node.op)) {
    const TfValue* type = node.find("dtype");
    const DType dtype = type == nullptr ? DType::unknown : dtype_of_tensorflow(type->type, here);
    op.inputs.push_back(Operand::of(
        graph_.add_parameter(node.name, dtype, shape->shape, is_floating(dtype) && !shape->shape.dims.empty())));
    state_shape(node.op == "VarHandleOp" ? Shape::scalar() : shape->shape);
  } else if (node.op == "Placeholder" || node.op == "PlaceholderV2") {
    // A GraphDef of version 23 or less writes an unknown shape as that of a scalar; _output_shapes may have the true
    // one.
    if (shape != nullptr) state_shape(shape->shape);
    if (source.shapes.empty()) source.shapes.emplace_back();
    open_inputs_.emplace(i, source.shapes[0]);
    fix_input(node.name, source.shapes[0]);
    input_names_.push_back(node.name);
  }
  sources_.push_back(std::move(source));
  graph_.ops.push_back(std::move(op));
}

void GraphFromTensorflow::add_call(std::string name, TfCall call) {
  memory_.use(sizeof(TfCall) + 2 * name.size() + 128);
  for (const auto* list : {&call.outputs, &call.waits})
    for (const std::string& text : *list) memory_.use(sizeof(text) + text.size());
  if (names_.find(name, name_at()) || !calls_.emplace(name, std::move(call)).second)
    throw InputError(file_, "two nodes are named {}", quote(name));
}

// The output that the text names, where a call is not an op but stands for outputs of others.
std::string GraphFromTensorflow::through_calls(std::string text, std::size_t op) const {
  constexpr int longest_chain = 1024;
  for (int step = 0;; ++step) {
    const InputName input = parse_input(text);
    const auto call = calls_.find(std::string(input.node));
    if (call == calls_.end()) return text;
    if (input.position >= call->second.outputs.size())
      throw InputError(place(op), "its input {} is output {} of a call with {} results", quote(text), input.position,
                       call->second.outputs.size());
    if (step == longest_chain) throw InputError(place(op), "its input {} is a call of a call without end", quote(text));
    text = call->second.outputs[input.position];
  }
}

void GraphFromTensorflow::add_waits(std::string_view name, std::vector<std::string>& waits,
                                    std::unordered_set<std::string_view>& seen) {
  std::vector<std::string_view> left = {name};
  while (!left.empty()) {
    const std::string_view next = left.back();
    left.pop_back();
    if (!seen.insert(next).second) continue;
    memory_.use(96 + next.size());
    const auto call = calls_.find(std::string(next));
    if (call == calls_.end()) {
      waits.push_back(fmt::format("^{}", next));
      continue;
    }
    for (const std::string& wait : call->second.waits) left.push_back(parse_input(wait).node);
    for (const std::string& output : call->second.outputs) left.push_back(parse_input(output).node);
  }
}

// Names of calls among the inputs become those of the nodes that give their results.
void GraphFromTensorflow::replace_calls(std::size_t op) {
  std::vector<std::string> inputs;
  std::unordered_set<std::string_view> seen;
  for (std::string& text : sources_[op].inputs)
    if (const InputName input = parse_input(text); input.control)
      add_waits(input.node, inputs, seen);
    else
      inputs.push_back(through_calls(text, op));
  sources_[op].inputs = std::move(inputs);
}

void GraphFromTensorflow::fix_input(const std::string& name, Shape& shape) {
  const auto given = options_.shapes.contains(name) ? options_.shapes.find(name) : options_.shapes.find(name + ":0");
  if (given != options_.shapes.end()) fix_shape(shape, given->second, name, file_);
  if (options_.batch) batch_used_ |= fix_batch(shape, *options_.batch, file_);
  check_input(shape, name, file_);
}

void GraphFromTensorflow::check_options() const {
  for (const auto& [name, sizes] : options_.shapes) {
    const std::string node = name.ends_with(":0") ? name.substr(0, name.size() - 2) : name;
    if (std::find(input_names_.begin(), input_names_.end(), node) == input_names_.end() &&
        !names_.find(name.substr(0, name.rfind(':')), name_at()))
      throw InputError(file_, "the model has no input {}{}", quote(name), known_inputs(node, input_names_));
  }
  if (options_.batch && !batch_used_) warn_unused_batch(*options_.batch, file_);
}

// Sizes may also be given for tensors inside the graph ("node" or "node:1"): some follow only from values that a file
// does not hold, such as a list of tensors that a loop fills.
void GraphFromTensorflow::fix_inner_sizes() {
  for (const auto& [name, sizes] : options_.shapes) {
    const std::string node = name.ends_with(":0") ? name.substr(0, name.size() - 2) : name;
    if (std::find(input_names_.begin(), input_names_.end(), node) != input_names_.end()) continue;
    const std::string tensor = name.find(':') == std::string::npos ? name + ":0" : name;
    const auto found = std::ranges::find(graph_.tensors, tensor, &GraphTensor::name);
    if (found == graph_.tensors.end())
      throw InputError(file_, "there is no tensor {} whose shape could be given", quote(tensor));
    fix_shape(found->shape, sizes, name, file_);
  }
}

// Adds a weight that the file leaves out; its size is unknown, which is reported in a warning.
Operand GraphFromTensorflow::add_missing_weight(std::size_t op, const std::string& name) {
  const auto [at, is_new] = missing_weights_.emplace(name, ParameterId{});
  if (is_new) at->second = graph_.add_parameter(name, sources_[op].dtypes[0], Shape(), true);
  return Operand::of(at->second);
}

void GraphFromTensorflow::resolve(std::size_t op) {
  Source& source = sources_[op];
  if (!calls_.empty()) replace_calls(op);
  std::size_t position = 0;
  for (const std::string& text : source.inputs) {
    const InputName input = parse_input(text);
    const std::uint32_t producer = names_.find(input.node, name_at()).value_or(no_op);
    if (producer == no_op) {
      // For example, the constant 'y' of 'sub' is called 'sub/y'.
      const bool own = input.node.starts_with(graph_.ops[op].name + "/");
      if (input.control || position == 0 || !(own || takes_weight(source.op, position)))
        throw InputError(place(op), "its input {} is no node of the graph", quote(text));
      graph_.ops[op].inputs.push_back(add_missing_weight(op, std::string(input.node)));
      wanted_[op].push_back({no_op, 0});
      ++position;
      continue;
    }
    const bool loop = sources_[producer].op.ends_with("NextIteration") && source.op.ends_with("Merge");
    if (loop) graph_.cut_edges.emplace_back(OpId{producer}, OpId{op});
    if (input.control) {
      if (!loop) graph_.ops[op].after.emplace_back(producer);
      continue;
    }
    ++position;
    graph_.ops[op].inputs.push_back(Operand::none());
    if (loop) {
      wanted_[op].push_back({no_op, 0});
      continue;
    }
    if (sources_[producer].states_outputs && input.position >= sources_[producer].shapes.size())
      throw InputError(place(op), "its input {} is output {} of a node that has {}", quote(text), input.position,
                       sources_[producer].shapes.size());
    wanted_[op].push_back({producer, input.position});
    outputs_.push_back({producer, input.position});
  }
  source.inputs = {};
  auto& after = graph_.ops[op].after;
  std::sort(after.begin(), after.end());
  after.erase(std::unique(after.begin(), after.end()), after.end());
}

void GraphFromTensorflow::add_tensors() {
  for (std::uint32_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    const std::size_t count = source.states_outputs ? source.shapes.size() : has_no_outputs(source.op) ? 0 : 1;
    for (std::uint32_t k = 0; k < count; ++k) outputs_.push_back({i, k});
  }
  std::sort(outputs_.begin(), outputs_.end());
  outputs_.erase(std::unique(outputs_.begin(), outputs_.end()), outputs_.end());
  graph_.tensors.reserve(outputs_.size());
  for (const Output& output : outputs_) {
    const auto open = open_inputs_.find(output.op);
    Source& source = sources_[output.op];
    GraphOp& op = graph_.ops[output.op];
    const std::size_t k = output.position;
    op.outputs.emplace_back(graph_.tensors.size());
    graph_.tensors.push_back({fmt::format("{}:{}", op.name, k),
                              source.dtypes[std::min(k, source.dtypes.size() - 1)],
                              k < source.shapes.size() ? std::move(source.shapes[k]) : Shape(),
                              OpId{output.op},
                              {}});
    stated_.push_back(open != open_inputs_.end() && k == 0 ? open->second : graph_.tensors.back().shape);
  }
}

void GraphFromTensorflow::connect(std::size_t i) {
  GraphOp& op = graph_.ops[i];
  // The parameter of a constant or variable, which has no inputs, comes before the inputs.
  std::size_t at = op.inputs.size() - wanted_[i].size();
  for (const Output& output : wanted_[i]) {
    if (output.op != no_op)
      op.inputs[at] = Operand::of(TensorId{
          static_cast<std::size_t>(std::lower_bound(outputs_.begin(), outputs_.end(), output) - outputs_.begin())});
    ++at;
  }
  std::vector<Operand> ordered;
  const std::string_view order = graph_op_name(sources_[i].op).order;
  if (order.empty()) return;
  for (const char digit : order)
    if (const auto position = static_cast<std::size_t>(digit - '0'); position < op.inputs.size())
      ordered.push_back(op.inputs[position]);
  for (std::size_t k = 0; k < op.inputs.size(); ++k)
    if (k > 9 || order.find(static_cast<char>('0' + k)) == std::string_view::npos) ordered.push_back(op.inputs[k]);
  op.inputs = std::move(ordered);
}

// All ops that must be on one device, directly or through others, form one group, which is named after its first op.
void GraphFromTensorflow::join_groups() {
  constexpr std::uint32_t alone = no_op;
  std::vector<std::uint32_t> parent(graph_.ops.size(), alone);
  const auto root = [&](std::uint32_t op) {
    while (parent[op] != op) op = parent[op] = parent[parent[op]];
    return op;
  };
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    for (const std::uint32_t op : {a, b})
      if (parent[op] == alone) parent[op] = op;
    const std::uint32_t root_a = root(a), root_b = root(b);
    parent[std::max(root_a, root_b)] = std::min(root_a, root_b);
  };
  // Names that are no op of the graph; each is represented by the first op that refers to it.
  std::unordered_map<std::string, std::uint32_t> absent;
  for (std::uint32_t i = 0; i < graph_.ops.size(); ++i)
    for (std::string& name : sources_[i].colocated_with) {
      const auto named = names_.find(name, name_at());
      join(i, named ? *named : absent.emplace(std::move(name), i).first->second);
    }
  // TensorFlow runs an op where the variable or table is that it gets a handle of.
  for (std::uint32_t i = 0; i < graph_.ops.size(); ++i)
    for (const Output& input : wanted_[i])
      if (input.op != no_op && input.position == 0 && sources_[input.op].gives_handle) join(i, input.op);
  for (std::uint32_t i = 0; i < graph_.ops.size(); ++i)
    if (parent[i] != alone) graph_.ops[i].colocate = graph_.ops[root(i)].name;
}

Graph GraphFromTensorflow::finish() {
  if (graph_.ops.empty()) throw InputError(file_, "the graph has no nodes");
  check_options();
  wanted_.resize(graph_.ops.size());
  for (std::size_t i = 0; i < graph_.ops.size(); ++i) resolve(i);
  add_tensors();
  fix_inner_sizes();
  for (std::size_t i = 0; i < graph_.ops.size(); ++i) connect(i);
  join_groups();
  graph_.relink(file_);
  std::sort(graph_.cut_edges.begin(), graph_.cut_edges.end());
  graph_.cut_edges.erase(std::unique(graph_.cut_edges.begin(), graph_.cut_edges.end()), graph_.cut_edges.end());
  if (!graph_.cut_edges.empty())
    log_warning("{}: {} back edges of loops are cut: a loop is costed as one iteration", file_,
                graph_.cut_edges.size());
  if (!missing_weights_.empty())
    log_warning("{}: {} weights are not in the file, among them {}; their sizes are unknown", file_,
                missing_weights_.size(), quote(graph_.parameters[graph_.parameters.size() - 1].name));
  if (!options_.shapes.empty() || options_.batch || !any_states_outputs_) propagate_shapes(graph_, stated_, file_);
  graph_.validate(file_);
  return std::move(graph_);
}

}  // namespace emplace::formats
