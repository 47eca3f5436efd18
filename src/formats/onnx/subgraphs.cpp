#include "formats/onnx/subgraphs.hpp"

#include <string_view>
#include <unordered_set>

namespace emplace::formats {

namespace {

using Names = std::unordered_set<std::string_view>;

template <class Visit>
void each_subgraph(const onnx::NodeProto& node, Visit&& visit) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) visit(attribute.g());
    for (const onnx::GraphProto& graph : attribute.graphs()) visit(graph);
  }
}

class OutsideNames {
 public:
  void walk(const onnx::GraphProto& graph) {
    Names defined;
    for (const auto& input : graph.input()) defined.insert(input.name());
    for (const auto& tensor : graph.initializer()) defined.insert(tensor.name());
    for (const auto& tensor : graph.sparse_initializer()) defined.insert(tensor.values().name());
    for (const auto& node : graph.node()) defined.insert(node.output().begin(), node.output().end());
    scopes_.push_back(std::move(defined));
    for (const auto& node : graph.node()) {
      for (const std::string& name : node.input()) use(name);
      walk(node);
    }
    for (const auto& output : graph.output()) use(output.name());
    scopes_.pop_back();
  }
  void walk(const onnx::NodeProto& node) {
    each_subgraph(node, [this](const onnx::GraphProto& inner) { walk(inner); });
  }

  std::vector<std::string> found;

 private:
  void use(const std::string& name) {
    if (name.empty()) return;
    for (const Names& scope : scopes_)
      if (scope.contains(name)) return;
    if (seen_.insert(name).second) found.push_back(name);
  }

  std::vector<Names> scopes_;
  Names seen_;
};

void collect_weights(const onnx::NodeProto& node, std::vector<const onnx::TensorProto*>& weights) {
  each_subgraph(node, [&](const onnx::GraphProto& graph) {
    for (const auto& tensor : graph.initializer()) weights.push_back(&tensor);
    for (const auto& inner : graph.node()) {
      if (inner.op_type() == "Constant")
        for (const auto& attribute : inner.attribute())
          if (attribute.has_t()) weights.push_back(&attribute.t());
      collect_weights(inner, weights);
    }
  });
}

}  // namespace

std::vector<std::string> names_from_outside(const onnx::GraphProto& graph) {
  OutsideNames names;
  names.walk(graph);
  return std::move(names.found);
}

std::vector<std::string> names_from_outside(const onnx::NodeProto& node) {
  OutsideNames names;
  names.walk(node);
  return std::move(names.found);
}

bool has_subgraph(const onnx::NodeProto& node) {
  bool found = false;
  each_subgraph(node, [&](const onnx::GraphProto&) { found = true; });
  return found;
}

std::vector<const onnx::TensorProto*> weights_inside(const onnx::NodeProto& node) {
  std::vector<const onnx::TensorProto*> weights;
  collect_weights(node, weights);
  return weights;
}

}  // namespace emplace::formats
