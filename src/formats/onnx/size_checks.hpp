// Sizes that contradict each other: they are errors, since no cost would be right.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>

#include "formats/onnx/fold/fold.hpp"
#include "formats/onnx/scope.hpp"

namespace emplace::formats {

// The shape of a tensor as far as it is known.
Shape shape_known(const OnnxScope& scope, const std::string& name);

// InputError that names the node if the known sizes of its inputs do not fit together: operands that do not broadcast,
// parts that cannot be joined, operands that disagree on the size over which they sum (inner_sizes.hpp), fewer than one
// group in a convolution; or if a size of the result is above 2^62.
void check_operands(const onnx::NodeProto& node, OnnxScope& scope, OnnxFolder& folder, const std::string& file);

// InputError if a Reshape, Flatten or the like has another number of elements than its input.
void check_result(const onnx::NodeProto& node, const OnnxScope& scope, const std::string& file);

}  // namespace emplace::formats
