#include "formats/onnx/shapes.hpp"

#include <cstring>

#include "emplace/base/error.hpp"
#include "formats/contained.hpp"
#include "formats/onnx/inference.hpp"
#include "formats/onnx/types.hpp"

namespace emplace::formats {

namespace {

// The child's answer: for each tensor of the graph its element type, its rank (-1: unknown) and its sizes; then the
// text about failed nodes.
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
  [[nodiscard]] std::string with_words(const std::string& words) && { return std::move(text_) + words; }

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
  [[nodiscard]] std::string words() const { return text_.substr(at_); }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string infer_onnx_shapes(onnx::ModelProto& model, std::span<const OpId> order, Graph& graph,
                              const std::string& file) {
  onnx::GraphProto& source = *model.mutable_graph();
  // Fills libonnx's table of operators once in this process, not in every child.
  static_cast<void>(onnx::OpSchemaRegistry::Schema("Identity", 1, ""));
  // Real models take about 10 us for each node.
  const Containment limits{.cpu_seconds = 5 + order.size() / 5'000};
  const Contained done = run_contained(limits, [&](std::atomic<std::uint64_t>& step) {
    // Never deleted, since this process ends after its answer.
    OnnxInference& inference = *new OnnxInference(model, file, graph.tensors.size());
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
    return std::move(answer).with_words(inference.failures());
  });
  if (!done.killed.empty())
    throw InputError(file, "node {}: shape inference crashed on it ({}); do its inputs and attributes fit its type?",
                     describe(source.node(static_cast<int>(done.step))), done.killed);
  Answer answer(done.result);
  for (GraphTensor& tensor : graph.tensors) answer.read_into(tensor);
  return answer.words();
}

}  // namespace emplace::formats
