// The types and values that shape inference has found inside one graph, sub-graph or function.
#pragma once

#include <onnx/onnx_pb.h>

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "formats/body_cost.hpp"
#include "formats/onnx/fold/tensor.hpp"

namespace emplace::formats {

using OnnxOpsets = std::unordered_map<std::string, int>;  // domain ("": the default one) -> version
OnnxOpsets opsets_of(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);

using OnnxValue = std::shared_ptr<const FoldedTensor>;

// The maps, by tensor name, have the types that libonnx's contexts require. `values` has the small vectors of whole
// numbers that data propagation has computed.
struct OnnxScope {
  std::unordered_map<std::string, onnx::TypeProto*> types;
  std::unordered_map<std::string, const onnx::TensorProto*> data;
  std::unordered_map<std::string, const onnx::SparseTensorProto*> sparse_data;
  std::unordered_map<std::string, onnx::TensorShapeProto> values;
  std::unordered_map<std::string, OnnxValue> folded;  // what our evaluator has computed (fold/fold.hpp)
  std::unordered_map<std::string, BodyCost> costs;    // of control-flow nodes, by cost_key (onnx/node_costs.hpp)
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
