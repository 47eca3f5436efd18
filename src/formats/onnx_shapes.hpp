// Shapes and element types of all tensors of an ONNX model.
#pragma once

#include <google/protobuf/arena.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace emplace {

struct OnnxShapes {
  std::unique_ptr<google::protobuf::Arena> memory;  // of names and types: freeing millions one by one takes seconds
  // Of the main graph's tensors of which something is known.
  std::unordered_map<std::string_view, const onnx::TypeProto*> types;
  std::string failures;  // of nodes, in words; "" if there are none
};

// Stored types and what inference adds (onnx_inference.hpp). `order`: positions of the main graph's nodes, producers
// first. Runs in a child process, because libonnx crashes on broken nodes; such a node is an InputError.
OnnxShapes infer_onnx_shapes(onnx::ModelProto& model, std::span<const std::uint32_t> order, const std::string& file);

}  // namespace emplace
