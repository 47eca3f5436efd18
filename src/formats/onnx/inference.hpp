// Shape inference of ONNX graphs: libonnx's functions for each operator, driven by our own loop.
#pragma once

#include <onnx/shape_inference/implementation.h>

#include <string>
#include <unordered_map>

#include "formats/onnx/scope.hpp"

namespace emplace::formats {

// libonnx's own driver (InferShapes) needs nodes in topological order, does not report which nodes failed, and doubles
// its data without limit on malicious graphs (a chain of Gather(x, x) or Concat(x, x)). This class gives the same
// shapes (tested on real models) as the driver does if it is not strict and propagates data. It cannot prevent
// libonnx's functions from reading beyond their inputs or dividing by zero on broken nodes; therefore shapes.hpp runs
// it in a child process.
class OnnxInference {
 public:
  // Keeps references to the model, whose main graph has about `tensors` tensors. The model's nodes are not changed.
  OnnxInference(const onnx::ModelProto& model, const std::string& file, std::size_t tensors);
  OnnxInference(const OnnxInference&) = delete;
  OnnxInference& operator=(const OnnxInference&) = delete;

  // Adds the types of the node's outputs to the scope. InputError for tensors with a negative size or more than 64
  // dimensions, and for sub-graphs and functions that expand to more than 300 000 nodes.
  void infer(onnx::NodeProto& node, OnnxScope& scope, int depth = 0);
  // The number of nodes that libonnx refused and the error of the first one, as a text; "" if there are none.
  [[nodiscard]] std::string failures() const;

  OnnxScope main;

 private:
  class Subgraph;
  class Context;

  void infer_function(const onnx::FunctionProto& function, onnx::NodeProto& node, Context& caller,
                      const OnnxScope& scope, int depth);
  void update_types(onnx::NodeProto& node, Context& context, OnnxScope& scope);
  void propagate(onnx::NodeProto& node, const onnx::OpSchema& schema, OnnxScope& scope);
  void check_rank(const onnx::NodeProto& node, const Context& context) const;
  void check_sizes(const onnx::NodeProto& node, const std::string& tensor, const onnx::TypeProto& type) const;
  void count_inner_node();
  void check_depth(int depth) const;
  void fail(const onnx::NodeProto& node, const char* why);

  const std::string& file_;
  std::unordered_map<std::string, const onnx::FunctionProto*> functions_;  // "domain:name"
  onnx::shape_inference::SymbolTableImpl symbols_;
  std::size_t inner_nodes_ = 0;
  std::size_t failure_count_ = 0;
  std::string first_failure_;
};

// "'conv1' (Conv)"
std::string describe(const onnx::NodeProto& node);

}  // namespace emplace::formats
