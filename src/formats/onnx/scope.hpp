// What shape inference knows inside one graph, sub-graph or function.
#pragma once

#include <onnx/onnx_pb.h>

#include <deque>
#include <string>
#include <unordered_map>

namespace emplace::formats {

using OnnxOpsets = std::unordered_map<std::string, int>;  // domain ("": the default one) -> version
OnnxOpsets opsets_of(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);

// The maps are those that libonnx's contexts want, by tensor name. `values` are what data propagation found out about
// small vectors of whole numbers.
struct OnnxScope {
  std::unordered_map<std::string, onnx::TypeProto*> types;
  std::unordered_map<std::string, const onnx::TensorProto*> data;
  std::unordered_map<std::string, const onnx::SparseTensorProto*> sparse_data;
  std::unordered_map<std::string, onnx::TensorShapeProto> values;
  std::deque<onnx::TypeProto> own_types;
  std::deque<onnx::TensorProto> own_data;
  std::deque<onnx::NodeProto> own_nodes;
  OnnxOpsets opsets;

  // Made empty if absent.
  onnx::TypeProto& type(const std::string& name);
  // Names that are there already keep their types.
  void add_types(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& infos);
  void add_initializers(const onnx::GraphProto& graph);
  // The data of a Constant node's output; nothing for other nodes.
  void add_constant(const onnx::NodeProto& node);
};

}  // namespace emplace::formats
