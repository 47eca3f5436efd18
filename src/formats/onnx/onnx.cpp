// Reads ONNX models (https://onnx.ai, IR specification) as graphs: one op for each node of the main graph; weights are
// parameters.
#include "formats/onnx/onnx.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/log.hpp"
#include "base/name_table.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/onnx/external.hpp"
#include "formats/onnx/inputs.hpp"
#include "formats/onnx/load.hpp"
#include "formats/onnx/shapes.hpp"
#include "formats/onnx/subgraphs.hpp"
#include "formats/onnx/types.hpp"

namespace emplace::formats {

namespace {

class GraphFromOnnx {
 public:
  GraphFromOnnx(const onnx::GraphProto& source, const std::string& file) : source_(source), file_(file) {}

  // Builds everything except the shapes of tensors.
  Graph build() {
    if (source_.node_size() == 0) throw InputError(file_, "the graph has no nodes");
    graph_.name = source_.name().empty() ? file_.substr(file_.find_last_of('/') + 1) : source_.name();
    add_parameters();
    add_inputs();
    name_ops();
    add_tensors();
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) connect(i);
    for (const auto& output : source_.output()) static_cast<void>(operand(output.name(), "graph output", {}));
    graph_.relink(file_);
    if (!control_flow_.empty())
      log_warning("{}: {} nodes have sub-graphs (If, Loop, Scan), among them {}; each is placed as one op", file_,
                  control_flow_.size(), quote(graph_.ops[control_flow_.front()].name));
    return std::move(graph_);
  }

 private:
  [[nodiscard]] const onnx::NodeProto& node(std::size_t op) const { return source_.node(static_cast<int>(op)); }

  void add_parameters() {
    for (const onnx::TensorProto& tensor : source_.initializer()) add_weight(tensor.name(), tensor);
    for (const onnx::SparseTensorProto& tensor : source_.sparse_initializer())
      add_weight(tensor.values().name(), tensor.values());
  }

  void add_weight(const std::string& name, const onnx::TensorProto& tensor) {
    if (name.empty()) throw InputError(file_, "an initializer has no name");
    define(name, Operand::of(add_parameter(name, tensor)), "initializer");
  }

  ParameterId add_parameter(const std::string& name, const onnx::TensorProto& tensor) {
    check_external_data(tensor, file_);
    const TypeAndShape type = type_and_shape(tensor, file_, name);
    // Shapes, axes and other whole numbers are not trained, nor are scalar constants.
    const bool trained = !type.shape.dims.empty() && is_floating(type.dtype);
    std::string unique = name;
    for (std::size_t i = parameter_names_.size(); !parameter_names_.insert(unique).second; ++i)
      unique = fmt::format("{}#{}", name, i);
    return graph_.add_parameter(unique, type.dtype, type.shape, trained);
  }

  // Before IR version 4 every initializer is listed as an input too.
  void add_inputs() {
    for (const auto& input : source_.input()) {
      if (const auto known = find(input.name()); known && known->is_parameter()) continue;
      define(input.name(), Operand::of(graph_.add_input(input.name(), DType::unknown, Shape())), "graph input");
    }
  }

  // Placements refer to ops by name. A node without a name gets one from its type and output. A name of several nodes
  // stays that of the first; the others get a # and their position in the file. Names of the file are never changed to
  // make room for such a one.
  void name_ops() {
    std::vector<GraphOp>& ops = graph_.ops;
    ops.resize(static_cast<std::size_t>(source_.node_size()));
    NameTable taken;
    taken.reserve(ops.size());
    const auto name_at = [&](std::uint32_t i) -> std::string_view { return ops[i].name; };
    std::vector<std::size_t> unnamed;
    std::vector<std::pair<std::size_t, std::uint32_t>> repeated;  // nodes, and the first of that name
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const onnx::NodeProto& n = node(i);
      if (n.op_type().empty()) throw InputError(file_, "node {} {} has no op_type", i, quote(n.name()));
      ops[i].type = n.domain().empty() || n.domain() == "ai.onnx" ? n.op_type() : n.domain() + "." + n.op_type();
      ops[i].attributes = attributes_of(n);
      ops[i].name = n.name();
      if (n.name().empty())
        unnamed.push_back(i);
      else if (const auto twin = taken.add(ops[i].name, static_cast<std::uint32_t>(i), name_at))
        repeated.emplace_back(i, *twin);
    }
    const auto name = [&](std::size_t i, const std::string& wanted) {
      for (std::size_t number = i; taken.add(ops[i].name, static_cast<std::uint32_t>(i), name_at); ++number)
        ops[i].name = fmt::format("{}#{}", wanted, number);
    };
    for (const std::size_t i : unnamed) {
      const auto& outputs = node(i).output();
      const auto output = std::find_if(outputs.begin(), outputs.end(), [](const auto& o) { return !o.empty(); });
      const std::string wanted =
          output == outputs.end() ? fmt::format("{}:{}", ops[i].type, i) : fmt::format("{}:{}", ops[i].type, *output);
      ops[i].name = wanted;
      name(i, wanted);
    }
    for (const auto& [i, twin] : repeated) name(i, node(i).name());
    if (!repeated.empty())
      log_warning("{}: {} nodes have the name of an earlier node, so they are called otherwise here: {} ({}) is {}",
                  file_, repeated.size(), node(repeated[0].first).name(), repeated[0].first,
                  quote(ops[repeated[0].first].name));
  }

  // Adds the outputs of all nodes before any input is connected, since nodes may be in any order.
  void add_tensors() {
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      for (const std::string& name : node(i).output()) {
        if (name.empty()) continue;  // an optional output that is not used
        define(name, Operand::of(TensorId{graph_.tensors.size()}), "output of node", graph_.ops[i].name);
        graph_.tensors.push_back({name, DType::unknown, Shape(), OpId{i}, {}});
        graph_.ops[i].outputs.push_back(TensorId{graph_.tensors.size() - 1});
      }
  }

  void connect(std::size_t i) {
    GraphOp& op = graph_.ops[i];
    for (const std::string& name : node(i).input())
      op.inputs.push_back(name.empty() ? Operand::none() : operand(name, "node", op.name));
    // A control-flow node also depends on the tensors that its sub-graphs read, and holds their weights.
    if (has_subgraph(node(i))) connect_outside(i);
    for (const onnx::TensorProto* weight : weights_inside(node(i)))
      op.inputs.push_back(Operand::of(add_parameter(op.name + "/" + weight->name(), *weight)));
    // Running mean and variance are statistics and not trained.
    if (op.type == "BatchNormalization")
      for (std::size_t input = 3; input < std::min<std::size_t>(op.inputs.size(), 5); ++input)
        if (op.inputs[input].is_parameter()) graph_.parameters[op.inputs[input].index].trainable = false;
  }

  // Adds what the sub-graphs of node i read from outside, unless the node reads it itself.
  void connect_outside(std::size_t i) {
    GraphOp& op = graph_.ops[i];
    control_flow_.push_back(i);
    const std::unordered_set<std::string_view> own(node(i).input().begin(), node(i).input().end());
    for (const std::string& name : names_from_outside(node(i)))
      if (const Operand value = operand(name, "node", op.name); !own.contains(name)) op.inputs.push_back(value);
  }

  [[nodiscard]] auto value_name_at() const {
    return [this](std::uint32_t i) { return values_[i].name; };
  }

  // Describes a value for messages by `what` and `of`: ("output of node", "conv1"), ("graph input", "").
  static std::string in_words(const char* what, std::string_view of) {
    return of.empty() ? what : fmt::format("{} {}", what, quote(of));
  }

  void define(const std::string& name, Operand value, const char* what, std::string_view of = {}) {
    if (name.empty()) throw InputError(file_, "a {} has no name", in_words(what, of));
    if (value_names_.add(name, static_cast<std::uint32_t>(values_.size()), value_name_at()))
      throw InputError(file_, "{} is defined twice, the second time as {}", quote(name), in_words(what, of));
    values_.push_back({name, value});
  }

  [[nodiscard]] std::optional<Operand> find(const std::string& name) const {
    const auto at = value_names_.find(name, value_name_at());
    return at ? std::optional(values_[*at].operand) : std::nullopt;
  }

  [[nodiscard]] Operand operand(const std::string& name, const char* what, std::string_view of) const {
    const auto found = find(name);
    if (!found)
      throw InputError(file_, "{} refers to {}, which is no input, initializer or output of a node", in_words(what, of),
                       quote(name));
    return *found;
  }

  const onnx::GraphProto& source_;
  const std::string& file_;
  Graph graph_;
  struct Value {
    std::string_view name;  // its name in the model
    Operand operand;
  };
  std::vector<Value> values_;  // the inputs, initializers and node outputs of the main graph
  NameTable value_names_;
  std::unordered_set<std::string> parameter_names_;
  std::vector<std::size_t> control_flow_;  // nodes with sub-graphs
};

void warn_of(const OnnxFindings& findings, const std::string& path) {
  if (!findings.failures.empty()) log_warning("{}: shapes could not be inferred for {}", path, findings.failures);
  if (!findings.rewritten.empty())
    log_warning("{}: sizes of the exported batch were replaced in the targets of {}", path, findings.rewritten);
  if (!findings.bounded.empty())
    log_warning("{}: sizes that depend on data are taken at their upper bound in {}", path, findings.bounded);
  if (!findings.one_branch.empty())
    log_warning("{}: with these sizes only one branch can run of {}", path, findings.one_branch);
  if (findings.unknown_trips > 0)
    log_warning(
        "{}: {} nodes (If, Loop, Scan) have a condition or a number of trips that is not known; an If is costed as its "
        "costlier branch, a loop as one trip",
        path, findings.unknown_trips);
}

Graph read_onnx(const std::string& path, const ReadOptions& options) {
  google::protobuf::Arena memory;  // freeing a million nodes one by one takes seconds
  onnx::ModelProto& model = load_onnx_without_weights(path, memory);
  Graph graph = GraphFromOnnx(model.graph(), path).build();
  const std::vector<OpId> order = graph.topological_order(path);
  OnnxGivenSizes given;
  std::vector<onnx::ValueInfoProto> exported(model.graph().input().begin(), model.graph().input().end());
  given.replaced = fix_input_shapes(*model.mutable_graph(), options, path);
  if (!given.replaced.empty()) given.exported_inputs = std::move(exported);
  given.any = options.batch.has_value() || !options.shapes.empty();
  warn_of(infer_onnx_shapes(model, order, graph, path, given), path);
  graph.validate(path);
  return graph;
}

// A ModelProto starts with its ir_version (field 1), and then come strings, the graph or the opset imports.
bool recognises_onnx(const std::string& path, std::string_view head) {
  if (path.ends_with(".onnx")) return true;
  return head.size() > 2 && head[0] == '\x08' && head[1] > 0 && head[1] < 0x40 &&
         std::string_view("\x12\x1a\x22\x28\x32\x3a\x42").find(head[2]) != std::string_view::npos;
}

}  // namespace

ReaderEntry onnx_reader() {
  ReaderEntry entry;
  entry.name = "onnx";
  entry.summary = "ONNX models (.onnx); weights may be left out, but files beside it that hold them must be there.";
  entry.reference = "ONNX IR specification, onnx.proto";
  entry.recognises = recognises_onnx;
  entry.read = read_onnx;
  entry.weights_beside = onnx_weights_beside;
  return entry;
}

}  // namespace emplace::formats
