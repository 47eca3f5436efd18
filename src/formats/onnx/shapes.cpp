#include "formats/onnx/shapes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/contained.hpp"
#include "emplace/base/error.hpp"
#include "formats/onnx/inference.hpp"
#include "formats/onnx/node_costs.hpp"
#include "formats/onnx/subgraphs.hpp"
#include "formats/onnx/types.hpp"
#include "formats/onnx/upper_bounds.hpp"

namespace emplace::formats {

namespace {

// The child's answer: for each tensor of the graph its element type, its rank (-1: unknown) and its sizes; then the
// costs of control-flow ops and the texts of OnnxFindings.
class Answer {
 public:
  Answer() = default;
  explicit Answer(std::string text) : text_(std::move(text)) {}

  void put(std::int64_t number) { text_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void put(const TypeAndShape& type) {
    put(static_cast<std::int64_t>(type.dtype));
    put(type.shape.ranked ? static_cast<std::int64_t>(type.shape.dims.size()) : -1);
    for (const std::int64_t size : type.shape.dims) put(size);
  }
  void put(double number) { put(std::bit_cast<std::int64_t>(number)); }
  void put(const std::string& words) {
    put(static_cast<std::int64_t>(words.size()));
    text_ += words;
  }
  void put(const BodyCost& cost) {
    for (const double number : {cost.flops, cost.bytes_read, cost.bytes_written, cost.launches}) put(number);
    put(cost.op_class);
    put(std::int64_t{cost.is_complete});
  }
  [[nodiscard]] std::string take() && { return std::move(text_); }

  std::int64_t number() {
    std::int64_t number = 0;
    EMPLACE_CHECK(text_.size() - at_ >= sizeof number, "the answer about ONNX shapes is too short");
    std::memcpy(&number, text_.data() + at_, sizeof number);
    at_ += sizeof number;
    return number;
  }
  void read_into(GraphTensor& tensor) {
    tensor.dtype = static_cast<DType>(number());
    const std::int64_t rank = number();
    tensor.shape.ranked = rank >= 0;
    for (std::int64_t i = 0; i < rank; ++i) tensor.shape.dims.push_back(number());
  }
  double real() { return std::bit_cast<double>(number()); }
  std::string words() {
    const auto length = static_cast<std::size_t>(number());
    EMPLACE_CHECK(text_.size() - at_ >= length, "the answer about ONNX shapes is too short");
    at_ += length;
    return text_.substr(at_ - length, length);
  }
  BodyCost cost() {
    BodyCost cost;
    for (double* each : {&cost.flops, &cost.bytes_read, &cost.bytes_written, &cost.launches}) *each = real();
    cost.op_class = words();
    cost.is_complete = number() != 0;
    return cost;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

namespace {

// The costs of the ops that have sub-graphs: their number, then each op with its cost.
void put_costs(Answer& answer, const onnx::GraphProto& source, const OnnxScope& scope) {
  std::vector<std::pair<int, const BodyCost*>> costs;
  if (!scope.costs.empty())
    for (int i = 0; i < source.node_size(); ++i)
      if (const auto found = scope.costs.find(cost_key(source.node(i)));
          found != scope.costs.end() && has_subgraph(source.node(i)))
        costs.emplace_back(i, &found->second);
  answer.put(static_cast<std::int64_t>(costs.size()));
  for (const auto& [op, cost] : costs) {
    answer.put(std::int64_t{op});
    answer.put(*cost);
  }
}

// The values of the third inputs of Dropout ops that are known: the number of them, then each op with its value.
void put_training_modes(Answer& answer, const onnx::GraphProto& source, OnnxInference& inference) {
  std::vector<std::pair<std::int64_t, std::int64_t>> modes;
  for (int i = 0; i < source.node_size(); ++i) {
    const onnx::NodeProto& node = source.node(i);
    if (node.op_type() != "Dropout" || node.input_size() < 3 || node.input(2).empty()) continue;
    if (const auto mode = inference.known_whole(node.input(2))) modes.emplace_back(i, *mode);
  }
  answer.put(static_cast<std::int64_t>(modes.size()));
  for (const auto& [op, mode] : modes) {
    answer.put(op);
    answer.put(mode);
  }
}

OnnxFindings read_answer(Answer answer, Graph& graph) {
  for (GraphTensor& tensor : graph.tensors) answer.read_into(tensor);
  for (std::int64_t left = answer.number(); left > 0; --left) {
    const auto op = static_cast<std::size_t>(answer.number());
    set_body_cost(graph.ops[op], answer.cost());
  }
  for (std::int64_t left = answer.number(); left > 0; --left) {
    const auto op = static_cast<std::size_t>(answer.number());
    graph.ops[op].attributes["training_mode"] = answer.number();
  }
  OnnxFindings findings;
  findings.failures = answer.words();
  findings.rewritten = answer.words();
  findings.bounded = answer.words();
  findings.one_branch = answer.words();
  findings.unknown_trips = static_cast<std::size_t>(answer.number());
  return findings;
}

// The Reshape nodes for the sizes of the file.
ExportedReshapes exported_reshapes(onnx::ModelProto& model, std::span<const OpId> order, std::size_t tensors,
                                   const std::string& file, const OnnxGivenSizes& given,
                                   std::atomic<std::uint64_t>& step) {
  // Never deleted, as the one for the given sizes.
  OnnxGivenSizes of_file;
  of_file.upper_bounds = given.upper_bounds;
  OnnxInference& inference = *new OnnxInference(model, file, tensors, std::move(of_file));
  for (const onnx::ValueInfoProto& input : given.exported_inputs) inference.main.type(input.name()) = input.type();
  try {
    for (const OpId node : order) {
      step = node.value;
      inference.infer(*model.mutable_graph()->mutable_node(static_cast<int>(node.value)), inference.main);
    }
  } catch (const InputError&) {
    // The shapes of the nodes before it are known. Whether it fits the given sizes too, these will show.
  }
  return inference.exported_reshapes(model.graph());
}

OnnxFindings inferred(onnx::ModelProto& model, std::span<const OpId> order, Graph& graph, const std::string& file,
                      OnnxGivenSizes given) {
  onnx::GraphProto& source = *model.mutable_graph();
  // Fills libonnx's table of operators once in this process, not in every child.
  static_cast<void>(onnx::OpSchemaRegistry::Schema("Identity", 1, ""));
  // Real models take about 10 us for each node; the evaluator of values stops after about a second.
  const Containment limits{.cpu_seconds = 8 + order.size() / 5'000};
  const Contained done = run_contained(limits, [&](ContainedWork& work) {
    std::atomic<std::uint64_t>& step = work.step;
    if (!given.exported_inputs.empty())
      given.exported = exported_reshapes(model, order, graph.tensors.size(), file, given, step);
    // Never deleted, since this process ends after its answer.
    OnnxInference& inference = *new OnnxInference(model, file, graph.tensors.size(), given);
    for (const OpId node : order) {
      step = node.value;
      inference.infer(*source.mutable_node(static_cast<int>(node.value)), inference.main);
    }
    Answer answer;
    for (const GraphTensor& tensor : graph.tensors) {
      const auto type = inference.main.types.find(tensor.name);
      answer.put(type == inference.main.types.end() ? TypeAndShape()
                                                    : type_and_shape(*type->second, file, tensor.name));
    }
    put_costs(answer, source, inference.main);
    put_training_modes(answer, source, inference);
    answer.put(inference.failures());
    answer.put(inference.rewritten());
    answer.put(inference.bounded());
    answer.put(inference.one_branch());
    answer.put(static_cast<std::int64_t>(inference.unknown_trips()));
    return std::move(answer).take();
  });
  if (!done.killed.empty())
    throw InputError(file, "node {}: shape inference crashed on it ({}); do its inputs and attributes fit its type?",
                     describe(source.node(static_cast<int>(done.step))), done.killed);
  return read_answer(Answer(done.result), graph);
}

}  // namespace

OnnxFindings infer_onnx_shapes(onnx::ModelProto& model, std::span<const OpId> order, Graph& graph,
                               const std::string& file, OnnxGivenSizes given) {
  given.upper_bounds = std::ranges::any_of(model.graph().node(), has_upper_bound);
  if (given.upper_bounds) try {
      return inferred(model, order, graph, file, given);
    } catch (const InputError&) {
      // The bounds of two tensors may differ that have equal sizes in each step. Without bounds an error is one of the
      // file.
      given.upper_bounds = false;
    }
  return inferred(model, order, graph, file, given);
}

}  // namespace emplace::formats
