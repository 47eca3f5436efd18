// The types and values that shape inference has found inside one graph, sub-graph or function.
#pragma once

#include <onnx/onnx_pb.h>

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "formats/onnx/fold/tensor.hpp"

namespace emplace::formats {

using OnnxOpsets = std::unordered_map<std::string, int>;  // domain ("": the default one) -> version
OnnxOpsets opsets_of(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);

using OnnxValue = std::shared_ptr<const FoldedTensor>;

// What the sub-graphs of one control-flow node cost.
struct OnnxBodyCost {
  double flops = 0, bytes_read = 0, bytes_written = 0;
  double launches = 0;             // of kernels: nodes that do work, each as often as it runs
  std::string op_class = "other";  // that of the op with the most FLOPs
  double class_flops = 0;          // the FLOPs of that op
  bool is_complete = true;         // false: a size, a type or the number of trips is not known
};

// The maps, by tensor name, have the types that libonnx's contexts require. `values` has the small vectors of whole
// numbers that data propagation has computed.
struct OnnxScope {
  std::unordered_map<std::string, onnx::TypeProto*> types;
  std::unordered_map<std::string, const onnx::TensorProto*> data;
  std::unordered_map<std::string, const onnx::SparseTensorProto*> sparse_data;
  std::unordered_map<std::string, onnx::TensorShapeProto> values;
  std::unordered_map<std::string, OnnxValue> folded;    // what our evaluator has computed (fold/fold.hpp)
  std::unordered_map<std::string, OnnxBodyCost> costs;  // of control-flow nodes, by cost_key (body_cost.hpp)
  std::deque<onnx::TypeProto> own_types;
  std::deque<onnx::TensorProto> own_data;
  std::deque<onnx::NodeProto> own_nodes;
  OnnxOpsets opsets;

  // The type of the tensor; an empty one is added if there is none.
  onnx::TypeProto& type(const std::string& name);
  // Does not change the types of names that are in the scope already.
  void add_types(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& infos);
  void add_initializers(const onnx::GraphProto& graph);
  // Adds the data of a Constant node's output; does nothing for other nodes.
  void add_constant(const onnx::NodeProto& node);
};

}  // namespace emplace::formats
