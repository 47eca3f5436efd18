// Shapes and element types of all tensors of an ONNX model.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <span>
#include <string>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

// Sets the shapes and element types of the graph's tensors, from the stored types and from inference (inference.hpp).
// The graph's ops are the nodes of the main graph; `order` has producers first. Returns a text about the nodes that
// failed, "" if none did. Inference runs in a child process, because libonnx crashes on broken nodes; such a node is an
// InputError.
std::string infer_onnx_shapes(onnx::ModelProto& model, std::span<const OpId> order, Graph& graph,
                              const std::string& file);

}  // namespace emplace::formats
