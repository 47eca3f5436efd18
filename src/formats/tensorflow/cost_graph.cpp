// Reads TensorFlow's CostGraphDef (cost_graph.proto), the measurements of a run. Nodes have names and numbers but no op
// types, so every op has the type "Measured", with its time as the attribute "measured_us".
#include <algorithm>
#include <unordered_map>

#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/memory_budget.hpp"
#include "formats/proto/cursor.hpp"
#include "formats/proto/sniff.hpp"
#include "formats/tensorflow/graphdef.hpp"
#include "formats/tensorflow/node.hpp"

namespace emplace::formats {

namespace {

struct Input {
  std::int64_t node = 0, port = 0;  // port -1: a control dependency
};

class GraphFromCosts {
 public:
  GraphFromCosts(const std::string& file, ProtoCursor& in) : file_(file), in_(in) {}

  void add_node() {
    using enum ProtoKind;
    static constexpr ProtoField fields[] = {
        {1, "name", text},           {2, "device", text},         {3, "id", whole},
        {4, "input_info", message},  {5, "output_info", message}, {6, "temporary_memory_size", whole},
        {8, "control_input", whole}, {9, "compute_cost", whole},  {12, "persistent_memory_size", whole}};
    const OpId id{graph_.ops.size()};
    GraphOp op;
    op.type = "Measured";
    std::int64_t number = 0;
    std::vector<Input> inputs;
    memory_.use(sizeof(GraphOp) + 512);
    while (const std::uint32_t field = in_.next(fields)) switch (field) {
        case 1: op.name = in_.name(); break;
        case 2:
          if (std::string device = in_.name(); !device.empty()) op.attributes["device"] = std::move(device);
          break;
        case 3: number = in_.whole(); break;
        case 4:
          memory_.use(64);
          in_.message([&] { inputs.push_back(read_input()); });
          break;
        case 5:
          memory_.use(256);
          in_.message([&] { graph_.tensors.push_back(read_output(id)); });
          op.outputs.emplace_back(graph_.tensors.size() - 1);
          break;
        case 6: op.attributes["temporary_bytes"] = not_negative(in_.whole(), "temporary_memory_size"); break;
        case 8:
          memory_.use(64);
          inputs.push_back({in_.whole(), -1});
          break;
        case 9: op.attributes["measured_us"] = not_negative(in_.whole(), "compute_cost"); break;
        default: op.state_bytes = not_negative(in_.whole(), "persistent_memory_size");
      }
    if (op.name.empty()) throw InputError(file_, "node {} has no name", number);
    // In the file, the name may come before or after the outputs.
    for (std::size_t k = 0; k < op.outputs.size(); ++k)
      graph_.tensors[op.outputs[k].index()].name = fmt::format("{}:{}", op.name, k);
    memory_.use(op.name.size() * (op.outputs.size() + 2));
    const auto [at, is_new] = numbers_.emplace(number, id);
    if (!is_new)
      throw InputError(file_, "nodes {} and {} both have the id {}", quote(graph_.ops[at->second.index()].name),
                       quote(op.name), number);
    graph_.ops.push_back(std::move(op));
    inputs_.push_back(std::move(inputs));
  }

  Graph finish() {
    if (graph_.ops.empty()) throw InputError(file_, "the graph has no nodes");
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) connect(i);
    graph_.name = file_.substr(file_.find_last_of('/') + 1);
    graph_.relink(file_);
    std::sort(graph_.cut_edges.begin(), graph_.cut_edges.end());
    graph_.cut_edges.erase(std::unique(graph_.cut_edges.begin(), graph_.cut_edges.end()), graph_.cut_edges.end());
    if (!graph_.cut_edges.empty())
      log_warning("{}: {} back edges of loops are cut: a loop is costed as one iteration", file_,
                  graph_.cut_edges.size());
    graph_.validate(file_);
    return std::move(graph_);
  }

 private:
  std::int64_t not_negative(std::int64_t value, const char* what) const {
    if (value < 0) in_.fail(fmt::format("{} is negative: {}", what, value));
    return value;
  }

  Input read_input() {
    using enum ProtoKind;
    static constexpr ProtoField fields[] = {{1, "preceding_node", whole}, {2, "preceding_port", whole}};
    Input input;
    while (const std::uint32_t field = in_.next(fields)) (field == 1 ? input.node : input.port) = in_.whole();
    // Numbers are 32 bits wide; negative ones may be written in either width.
    input.port = static_cast<std::int32_t>(input.port);
    return input;
  }

  // If shape and type do not give the stated size, the tensor has that many elements of one byte.
  GraphTensor read_output(OpId producer) {
    using enum ProtoKind;
    static constexpr ProtoField fields[] = {{1, "size", whole}, {3, "shape", message}, {4, "dtype", enumeration}};
    GraphTensor tensor;
    tensor.producer = producer;
    std::int64_t size = 0;
    while (const std::uint32_t field = in_.next(fields)) switch (field) {
        case 1: size = in_.whole(); break;
        case 3: in_.message([&] { tensor.shape = read_tensor_shape(in_); }); break;
        default: tensor.dtype = dtype_of_tensorflow(in_.enumeration(tensorflow_types()), file_);
      }
    memory_.use(8 * tensor.shape.dims.size());
    if (size > 0 && tensor.bytes() != size) {
      tensor.dtype = DType::u8;
      tensor.shape = Shape{size};
    }
    return tensor;
  }

  void connect(std::size_t i) {
    GraphOp& op = graph_.ops[i];
    for (const Input& input : inputs_[i]) {
      const auto found = numbers_.find(input.node);
      if (found == numbers_.end())
        throw InputError(file_, "node {} reads node {}, which does not exist", quote(op.name), input.node);
      const GraphOp& producer = graph_.ops[found->second.index()];
      if (closes_loop(producer.name, op.name)) {
        graph_.cut_edges.emplace_back(found->second, OpId{i});
      } else if (input.port < 0) {
        op.after.push_back(found->second);
      } else if (static_cast<std::size_t>(input.port) >= producer.outputs.size()) {
        throw InputError(file_, "node {} reads output {} of node {}, which has {} outputs", quote(op.name), input.port,
                         quote(producer.name), producer.outputs.size());
      } else {
        op.inputs.push_back(Operand::of(producer.outputs[static_cast<std::size_t>(input.port)]));
      }
    }
    inputs_[i] = {};
    std::sort(op.after.begin(), op.after.end());
    op.after.erase(std::unique(op.after.begin(), op.after.end()), op.after.end());
  }

  // The file has no op types, but TensorFlow names the nodes of a loop after their types.
  static bool closes_loop(std::string_view producer, std::string_view consumer) {
    const auto last_part = [](std::string_view name) { return name.substr(name.find_last_of('/') + 1); };
    return last_part(producer).starts_with("NextIteration") && last_part(consumer).starts_with("Merge");
  }

  const std::string& file_;
  ProtoCursor& in_;
  Graph graph_;
  std::unordered_map<std::int64_t, OpId> numbers_;
  std::vector<std::vector<Input>> inputs_;
  MemoryBudget memory_{file_};
};

Graph read_cost_graph(const std::string& path, const ReadOptions& options) {
  if (!options.shapes.empty() || options.batch)
    throw InputError(path, "a CostGraphDef holds measurements at given sizes: --shape and --batch cannot change them");
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {{1, "node", message}};
  const std::unique_ptr<ProtoCursor> in = open_proto(path);
  GraphFromCosts graph(path, *in);
  while (in->next(fields) != 0) in->message([&] { graph.add_node(); });
  return graph.finish();
}

}  // namespace

ReaderEntry cost_graph_reader() {
  ReaderEntry entry;
  entry.name = "tensorflow-costs";
  entry.summary = "TensorFlow CostGraphDef, binary or text: measured times and sizes of a run, without op types.";
  entry.reference = "TensorFlow cost_graph.proto";
  entry.recognises = [](const std::string&, std::string_view head) {
    return sniff_proto(head) == TensorflowFile::cost_graph;
  };
  entry.read = read_cost_graph;
  return entry;
}

}  // namespace emplace::formats
