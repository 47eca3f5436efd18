#include "formats/onnx/inference_context.hpp"

#include <fmt/core.h>

#include <utility>

#include "formats/onnx/subgraphs.hpp"

namespace emplace::formats {

OnnxInference::Subgraph::Subgraph(OnnxInference& inference, onnx::GraphProto& graph, const OnnxScope& outer, int depth)
    : inference_(inference), graph_(graph), outer_(outer), depth_(depth), outside_(names_from_outside(graph)) {}

std::vector<const onnx::TypeProto*> OnnxInference::Subgraph::doInferencing(
    const std::vector<const onnx::TypeProto*>& input_types, const std::vector<const onnx::TensorProto*>& input_data) {
  inference_.check_depth(depth_);
  if (static_cast<std::size_t>(graph_.input_size()) != input_types.size())
    throw onnx::InferenceError(
        fmt::format("a sub-graph has {} inputs, its node gives {}", graph_.input_size(), input_types.size()));
  OnnxScope& scope = new_scope();
  for (int i = 0; i < graph_.input_size(); ++i) {
    const auto position = static_cast<std::size_t>(i);
    if (input_types[position] != nullptr) set_input(scope, i, *input_types[position]);
    if (position < input_data.size() && input_data[position] != nullptr)
      scope.data[graph_.input(i).name()] = input_data[position];
  }
  infer_nodes(scope);
  std::vector<const onnx::TypeProto*> outputs;
  for (const auto& output : graph_.output()) outputs.push_back(&scope.type(output.name()));
  return outputs;
}

std::vector<OnnxInference::Subgraph::Known> OnnxInference::Subgraph::run(const std::vector<Known>& inputs) {
  inference_.check_depth(depth_);
  if (static_cast<std::size_t>(graph_.input_size()) != inputs.size())
    throw onnx::InferenceError(
        fmt::format("a sub-graph has {} inputs, its node gives {}", graph_.input_size(), inputs.size()));
  OnnxScope& scope = new_scope();
  for (int i = 0; i < graph_.input_size(); ++i) {
    const Known& given = inputs[static_cast<std::size_t>(i)];
    if (given.type != nullptr && given.type->value_case() != onnx::TypeProto::VALUE_NOT_SET)
      set_input(scope, i, *given.type);
    inference_.folder_.publish(scope, graph_.input(i).name(), given.value);
  }
  infer_nodes(scope);
  std::vector<Known> outputs;
  for (const auto& output : graph_.output())
    outputs.push_back({&scope.type(output.name()), inference_.folder_.value(scope, output.name())});
  return outputs;
}

OnnxScope& OnnxInference::Subgraph::new_scope() {
  OnnxScope& scope = scopes_.emplace_back();
  scope.opsets = outer_.opsets;
  for (const std::string& name : outside_) copy_from_outside(scope, name);
  inference_.symbols_.addFromGraph(graph_);
  scope.add_types(graph_.input());
  scope.add_types(graph_.value_info());
  scope.add_types(graph_.output());
  scope.add_initializers(graph_);
  return scope;
}

void OnnxInference::Subgraph::set_input(OnnxScope& scope, int position, const onnx::TypeProto& given) const {
  onnx::TypeProto& type = scope.type(graph_.input(position).name());
  if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) {
    type = given;
  } else {
    onnx::shape_inference::checkShapesAndTypes(given, type);
    onnx::shape_inference::mergeShapesAndTypes(given, &type);
  }
}

void OnnxInference::Subgraph::infer_nodes(OnnxScope& scope) {
  Doubts outside = std::exchange(inference_.doubts_, {});
  for (onnx::NodeProto& node : *graph_.mutable_node()) {
    inference_.count_inner_node();
    inference_.infer(node, scope, depth_);
  }
  last_doubts_ = std::exchange(inference_.doubts_, std::move(outside));
  inference_.doubts_.add(last_doubts_);
}

void OnnxInference::Subgraph::copy_from_outside(OnnxScope& scope, const std::string& name) const {
  const auto copy = [&name](const auto& from, auto& to) {
    if (const auto found = from.find(name); found != from.end()) to.insert(*found);
  };
  copy(outer_.types, scope.types);
  copy(outer_.data, scope.data);
  copy(outer_.sparse_data, scope.sparse_data);
  copy(outer_.values, scope.values);
  copy(outer_.folded, scope.folded);
}

OnnxInference::Context::Context(OnnxInference& inference, onnx::NodeProto& node, const OnnxScope& scope, int depth,
                                std::unordered_map<std::string, onnx::TensorShapeProto>& values)
    : InferenceContextImpl(node, scope.types, scope.data, scope.sparse_data, &values),
      inference_(inference),
      scope_(scope),
      depth_(depth) {}

onnx::GraphInferencer* OnnxInference::Context::getGraphAttributeInferencer(const std::string& name) {
  return &subgraph(name);
}

OnnxInference::Subgraph& OnnxInference::Context::subgraph(const std::string& name) {
  auto& subgraph = subgraphs_[name];
  if (subgraph == nullptr) {
    const auto found = graphProtoAttributesByName_.find(name);
    if (found == graphProtoAttributesByName_.end())
      throw onnx::InferenceError(fmt::format("the attribute {} holds no graph", name));
    subgraph = std::make_unique<Subgraph>(inference_, *found->second, scope_, depth_ + 1);
  }
  return *subgraph;
}

}  // namespace emplace::formats
