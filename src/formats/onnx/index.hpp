// An ONNX file's parts with their places in it: what a model is cut and compared by.
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
  std::vector<ProtoPlace> model_fields;  // but for the graph and for how it is trained
  // In the order of model.graph().
  std::vector<ProtoPlace> nodes, initializers, sparse_initializers, inputs, outputs, value_infos;
  std::vector<ProtoPlace> graph_fields;  // all others

  // What each name in the main graph is.
  struct Value {
    enum class Kind : std::uint8_t { input, initializer, sparse_initializer, output_of_node } kind;
    std::uint32_t index;  // among its kind; of the node
  };
  std::unordered_map<std::string_view, Value> values;  // an initializer that is an input too counts as initializer

  // Names that node i reads, those of its sub-graphs from outside included, each once.
  [[nodiscard]] std::vector<std::string> reads(std::size_t node) const;
};

}  // namespace emplace::formats
