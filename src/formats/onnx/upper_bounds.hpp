// Sizes that depend on the data of a step, for which an op has an upper bound.
#pragma once

#include <onnx/onnx_pb.h>

#include "formats/onnx/fold/fold.hpp"
#include "formats/onnx/scope.hpp"

namespace emplace::formats {

// Whether the type is one of those below.
bool has_upper_bound(const onnx::NodeProto& node);

// Fills the open size of an output with the largest that it can be, and returns whether it did: all elements of the
// input of a NonZero; for NonMaxSuppression the boxes that may be selected of each class (all, where that number is not
// known), times classes and batch; for TopK the size of its axis.
bool bound_sizes(const onnx::NodeProto& node, OnnxScope& scope, OnnxFolder& folder);

}  // namespace emplace::formats
