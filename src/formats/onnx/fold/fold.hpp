// Computes the values of small tensors from which shapes follow: Shape, Gather, Div, Concat, Where and the like.
#pragma once

#include <memory>
#include <string>

#include "formats/onnx/fold/call.hpp"
#include "formats/onnx/scope.hpp"

namespace emplace::formats {

// libonnx follows such values through a few types of ops only, and not where one of them is not known. This evaluator
// follows whole numbers, booleans and floating-point numbers through those ops that exporters write for shapes, also
// where only a part of a tensor is known. It stops when its budget of time and memory is spent; values are unknown from
// then on.
class OnnxFolder {
 public:
  // Adds the values of the node's outputs to the scope, if they follow from those of its inputs and from the shapes
  // that inference has found. Nodes of other domains and types have no values.
  void fold(const onnx::NodeProto& node, OnnxScope& scope);

  // Makes a value known under a name: to this evaluator, to libonnx (scope.data, scope.values), and as the shape of the
  // tensor. Does nothing if the value contradicts a shape that is known.
  void publish(OnnxScope& scope, const std::string& name, OnnxValue value);

  // The value of a tensor: published, or that of an initializer or Constant. nullptr if nothing is known.
  OnnxValue value(OnnxScope& scope, const std::string& name);

 private:
  FoldBudget budget_;
};

}  // namespace emplace::formats
