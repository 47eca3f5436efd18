// Sizes over which products, convolutions and recurrent ops sum: the two operands must agree on them.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>

#include "formats/onnx/scope.hpp"

namespace emplace::formats {

// InputError that names the node if the known sizes of its operands do not agree: the inner sizes and the batches of
// MatMul and Gemm, the channels of an input and of the weights of a convolution, the features of a recurrent op.
void check_inner_sizes(const onnx::NodeProto& node, const OnnxScope& scope, const std::string& file);

}  // namespace emplace::formats
