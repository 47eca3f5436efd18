#include "onnx_shapes.hpp"

#include "contained.hpp"
#include "emplace/base/error.hpp"
#include "onnx_inference.hpp"

namespace emplace {

OnnxShapes infer_onnx_shapes(onnx::ModelProto& model, std::span<const std::uint32_t> order, const std::string& file) {
  onnx::GraphProto& graph = *model.mutable_graph();
  // Fills libonnx's table of operators here once, not in every child.
  static_cast<void>(onnx::OpSchemaRegistry::Schema("Identity", 1, ""));
  // Real models take about 10 us a node.
  const Containment limits{.cpu_seconds = 5 + order.size() / 5'000};
  const Contained done = run_contained(limits, [&](std::atomic<std::uint64_t>& step) {
    // Never deleted: this process ends with its answer.
    OnnxInference& inference = *new OnnxInference(model, file);
    for (const std::uint32_t node : order) {
      step = node;
      inference.infer(*graph.mutable_node(static_cast<int>(node)), inference.main);
    }
    google::protobuf::Arena memory;
    onnx::GraphProto& answer = *google::protobuf::Arena::CreateMessage<onnx::GraphProto>(&memory);
    answer.set_doc_string(inference.failures());
    for (const auto& [name, type] : inference.main.types) {
      auto& info = *answer.add_value_info();
      info.set_name(name);
      *info.mutable_type() = *type;
    }
    return answer.SerializeAsString();
  });
  if (!done.killed.empty())
    throw InputError(file, "node {}: shape inference broke down on it ({}); do its inputs and attributes fit its type?",
                     describe(graph.node(static_cast<int>(done.step))), done.killed);
  OnnxShapes shapes;
  shapes.memory = std::make_unique<google::protobuf::Arena>();
  auto& answer = *google::protobuf::Arena::CreateMessage<onnx::GraphProto>(shapes.memory.get());
  EMPLACE_CHECK(answer.ParseFromString(done.result));
  shapes.failures = answer.doc_string();
  shapes.types.reserve(static_cast<std::size_t>(answer.value_info_size()));
  for (const auto& info : answer.value_info()) shapes.types.emplace(info.name(), &info.type());
  return shapes;
}

}  // namespace emplace
