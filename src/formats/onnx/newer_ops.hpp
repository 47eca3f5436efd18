// Ops of opsets that are newer than libonnx, and sizes that libonnx leaves open.
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>

#include "formats/onnx/fold/fold.hpp"
#include "formats/onnx/scope.hpp"

namespace emplace::formats {

// The node as the newest opset that libonnx has would write it: axes as an attribute, without attributes that do not
// change shapes. nullopt: use the node itself.
std::optional<onnx::NodeProto> older_form(const onnx::NodeProto& node, OnnxScope& scope, OnnxFolder& folder);

// Sets the output's type of a node whose op type libonnx does not have but whose output is like its first input (Gelu).
void infer_newer_op(const onnx::NodeProto& node, OnnxScope& scope);

// Fills sizes that libonnx left open and that follow from the node: parts of Split with num_outputs, and the one open
// size of a Reshape.
void complete_sizes(const onnx::NodeProto& node, OnnxScope& scope);

}  // namespace emplace::formats
