// Shapes and element types of all tensors of an ONNX model.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <span>
#include <string>

#include "emplace/graph/graph.hpp"
#include "formats/onnx/inference.hpp"

namespace emplace::formats {

// Sets the shapes and element types of the graph's tensors, from the stored types and from inference (inference.hpp).
// The graph's ops are the nodes of the main graph; `order` has producers first. Ops with sub-graphs get attributes from
// which the op table takes their costs. Sizes that depend on data are taken at their upper bound, unless sizes then
// contradict each other. Inference runs in a child process, because libonnx crashes on broken nodes;
// such a node is an InputError.
struct OnnxFindings {
  std::string failures;           // about the nodes that failed; "": none
  std::string rewritten;          // about Reshape nodes whose targets were fitted to the given sizes; "": none
  std::string bounded;            // about nodes that were sized by their upper bound; "": none
  std::string one_branch;         // about If nodes of which one branch cannot run with the known sizes; "": none
  std::size_t unknown_trips = 0;  // If nodes with an unknown condition, loops with an unknown number of trips
};
OnnxFindings infer_onnx_shapes(onnx::ModelProto& model, std::span<const OpId> order, Graph& graph,
                               const std::string& file, OnnxGivenSizes given);

}  // namespace emplace::formats
