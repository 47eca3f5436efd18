// What libonnx's functions are given for one node: its inputs' types and values, and its sub-graphs.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/onnx/inference.hpp"

namespace emplace::formats {

// Infers a sub-graph of an If, Loop or Scan, as often as it is asked to.
class OnnxInference::Subgraph final : public onnx::GraphInferencer {
 public:
  Subgraph(OnnxInference& inference, onnx::GraphProto& graph, const OnnxScope& outer, int depth);

  // Called by libonnx's functions.
  std::vector<const onnx::TypeProto*> doInferencing(const std::vector<const onnx::TypeProto*>& input_types,
                                                    const std::vector<const onnx::TensorProto*>& input_data) override;

  // What is known of a value that goes in or comes out; a nullptr is unknown.
  struct Known {
    const onnx::TypeProto* type = nullptr;
    OnnxValue value = nullptr;
  };
  // Infers the sub-graph once more. The types stay valid as long as this object.
  std::vector<Known> run(const std::vector<Known>& inputs);

  [[nodiscard]] const onnx::GraphProto& graph() const { return graph_; }
  [[nodiscard]] bool has_run() const { return !scopes_.empty(); }
  // What the last run found. There must have been one.
  [[nodiscard]] OnnxScope& last_scope() { return scopes_.back(); }
  [[nodiscard]] const Doubts& last_doubts() const { return last_doubts_; }

 private:
  void copy_from_outside(OnnxScope& scope, const std::string& name) const;
  OnnxScope& new_scope();
  void set_input(OnnxScope& scope, int position, const onnx::TypeProto& given) const;
  void infer_nodes(OnnxScope& scope);

  OnnxInference& inference_;
  onnx::GraphProto& graph_;
  const OnnxScope& outer_;
  int depth_;
  std::vector<std::string> outside_;
  Doubts last_doubts_;
  std::deque<OnnxScope> scopes_;  // one for each call, because the caller keeps pointers to the types
};

class OnnxInference::Context final : public onnx::shape_inference::InferenceContextImpl {
 public:
  Context(OnnxInference& inference, onnx::NodeProto& node, const OnnxScope& scope, int depth,
          std::unordered_map<std::string, onnx::TensorShapeProto>& values);

  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override;
  // InferenceError if the node has no such sub-graph.
  Subgraph& subgraph(const std::string& name);

 private:
  OnnxInference& inference_;
  const OnnxScope& scope_;
  int depth_;
  std::unordered_map<std::string, std::unique_ptr<Subgraph>> subgraphs_;
};

}  // namespace emplace::formats
