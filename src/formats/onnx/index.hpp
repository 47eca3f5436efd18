// The nodes, weights and other fields of an ONNX file with their places in it, for splitting and comparing models.
#pragma once

#include <google/protobuf/arena.h>
#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "formats/proto/fields.hpp"

namespace emplace::formats {

struct OnnxIndex {
  // InputError if the file is no ONNX model.
  OnnxIndex(const std::string& file, google::protobuf::Arena& memory);

  onnx::ModelProto& model;  // without weights
  ProtoPlace graph;
  std::vector<ProtoPlace> model_fields;  // all except the graph and training_info
  // In the order of model.graph().
  std::vector<ProtoPlace> nodes, initializers, sparse_initializers, inputs, outputs, value_infos;
  std::vector<ProtoPlace> graph_fields;  // all others

  // What a name in the main graph refers to.
  struct Value {
    enum class Kind : std::uint8_t { input, initializer, sparse_initializer, output_of_node } kind;
    std::uint32_t index;  // its position in the list of its kind; for output_of_node that of the node
  };
  std::unordered_map<std::string_view, Value> values;  // an initializer that is also an input is an initializer here

  // The names that node i reads, each once, including those that its sub-graphs read from outside.
  [[nodiscard]] std::vector<std::string> reads(std::size_t node) const;
};

}  // namespace emplace::formats
