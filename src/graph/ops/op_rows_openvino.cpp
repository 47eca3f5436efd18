// Op types under their OpenVINO names, where ONNX has no op with the same operands.
#include "graph/ops/op_rules.hpp"
#include "graph/training/gradients.hpp"

namespace emplace {

namespace {

constexpr OpClass elementwise = OpClass::elementwise, normalisation = OpClass::normalisation, nothing = OpClass::free;

// Weights have the shape groups x output channels per group x input channels per group x kernel. Depthwise convolutions
// are recognised by the attribute "group", which the reader sets.
double group_conv_flops(const OpView& op, double) {
  return 2 * op.output_elements(0) * op.product_from(op.input_shape(1), 2);
}
// The transposed convolution, and the gradient (dy, weight) -> dx.
double group_conv_scatter_flops(const OpView& op, double) {
  return 2 * op.input_elements(0) * op.product_from(op.input_shape(1), 2);
}
// The gradient (dy, x) -> dweight.
double group_conv_grad_weight_flops(const OpView& op, double) {
  return 2 * op.input_elements(0) * op.product_from(op.output_shape(0), 2);
}

void group_conv_gradient(Backward& backward, OpId forward) {
  conv_gradient_by(backward, forward, "GroupConvGradInput", "GroupConvGradWeight");
}

constexpr bool fixed = false;  // not foldable

constexpr OpRow rows[] = {
    // type, class, FLOPs, factor, traffic, gradient, foldable
    {"GroupConvolution", OpClass::convolution, group_conv_flops, 2, all_operands, group_conv_gradient},
    {"GroupConvGradInput", OpClass::convolution, group_conv_scatter_flops, 2, all_operands, no_gradient},
    {"GroupConvGradWeight", OpClass::convolution, group_conv_grad_weight_flops, 2, all_operands, no_gradient},
    {"GroupConvolutionBackpropData", OpClass::convolution, group_conv_scatter_flops, 2, all_operands, generic_gradient},
    {"GroupConvolutionBackpropDataGrad", OpClass::convolution, twice_forward, 2, all_operands, no_gradient},
    {"ScaledDotProductAttention", OpClass::matmul, attention_flops, 5, all_operands, generic_gradient},
    {"ScaledDotProductAttentionGrad", OpClass::matmul, twice_forward, 2, all_operands, no_gradient},
    {"Swish", elementwise, per_output, 5, all_operands, from_input_gradient},
    {"SwishGrad", elementwise, per_output, 7, all_operands, no_gradient},
    {"Mish", elementwise, per_output, 6, all_operands, from_input_gradient},
    {"MishGrad", elementwise, per_output, 9, all_operands, no_gradient},
    // x times the scale of its channel, plus the channel's shift.
    {"ScaleShift", elementwise, per_output, 2, all_operands, generic_gradient},
    {"ScaleShiftGrad", elementwise, twice_forward, 2, all_operands, no_gradient},
    {"FakeQuantize", elementwise, per_output, 6, all_operands, generic_gradient},
    {"FakeQuantizeGrad", elementwise, twice_forward, 2, all_operands, no_gradient},
    // Mean, variance, and the division by the variance's root.
    {"MVN", normalisation, per_output, 6, all_operands, from_input_gradient},
    {"MVNGrad", normalisation, per_output, 8, all_operands, no_gradient},
    {"AdaptiveAvgPool", OpClass::pooling, per_input, 1, all_operands, from_input_gradient},
    {"AdaptiveAvgPoolGrad", OpClass::pooling, per_output, 1, all_operands, no_gradient},
    {"Roll", OpClass::movement, no_flops, 0, sliced, from_input_gradient},
    {"RollGrad", OpClass::movement, no_flops, 0, sliced, no_gradient},
    {"NormalizeL2", normalisation, per_output, 4, all_operands, generic_gradient},
    {"NormalizeL2Grad", normalisation, twice_forward, 2, all_operands, no_gradient},

    {"Parameter", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"Input", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"Result", nothing, no_flops, 0, no_traffic, pass_gradient, fixed},
    {"ReadValue", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
};

}  // namespace

std::span<const OpRow> openvino_rows() { return rows; }

}  // namespace emplace
