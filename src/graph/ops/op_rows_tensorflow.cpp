// Forward, backward and bookkeeping op types under their TensorFlow names, where ONNX has no op with the same operands.
// The layouts differ too: TensorFlow's filters have the shape height x width x input channels x output channels.
#include "graph/ops/op_rules.hpp"
#include "graph/training/gradients.hpp"

namespace emplace {

namespace {

constexpr OpClass elementwise = OpClass::elementwise, movement = OpClass::movement, reduction = OpClass::reduction,
                  normalisation = OpClass::normalisation, nothing = OpClass::free;

double product_of_all_but_last(const OpView& op, const Shape& shape) {
  if (!shape.is_static() || shape.dims.empty()) {
    op.set_incomplete();
    return 0;
  }
  double product = 1;
  for (std::size_t i = 0; i + 1 < shape.dims.size(); ++i) product *= static_cast<double>(shape.dims[i]);
  return product;
}

// Height x width of a depthwise filter (height x width x channels x multiplier).
double window_of(const OpView& op, const Shape& filter) {
  if (!filter.is_static() || filter.dims.size() < 3) {
    op.set_incomplete();
    return 0;
  }
  double product = 1;
  for (std::size_t i = 0; i + 2 < filter.dims.size(); ++i) product *= static_cast<double>(filter.dims[i]);
  return product;
}

// Further operands (biases and the like) and the activation count one operation for each output element.
double fused_part(const OpView& op) {
  return static_cast<double>(op.op().inputs.size() > 2 ? op.op().inputs.size() - 1 : 0) * op.output_elements(0);
}

// (x, filter) -> y
double conv2d_flops(const OpView& op, double) {
  return 2 * op.output_elements(0) * product_of_all_but_last(op, op.input_shape(1)) + fused_part(op);
}
double depthwise_flops(const OpView& op, double) {
  return 2 * op.output_elements(0) * window_of(op, op.input_shape(1)) + fused_part(op);
}
// (sizes, filter, dy) -> dx
double conv2d_input_flops(const OpView& op, double) {
  return 2 * op.input_elements(2) * product_of_all_but_last(op, op.input_shape(1));
}
double depthwise_input_flops(const OpView& op, double) {
  return 2 * op.input_elements(2) * window_of(op, op.input_shape(1));
}
// (x, sizes, dy) -> dfilter
double conv2d_filter_flops(const OpView& op, double) {
  return 2 * op.input_elements(2) * product_of_all_but_last(op, op.output_shape(0));
}
double depthwise_filter_flops(const OpView& op, double) {
  return 2 * op.input_elements(2) * window_of(op, op.output_shape(0));
}
double fused_matmul_flops(const OpView& op, double factor) { return matmul_flops(op, factor) + fused_part(op); }

// Operands (variable, value): the value is read and the variable is written.
MemoryTraffic assigned(const OpView& op) { return {op.input_bytes(1), op.input_bytes(1)}; }
MemoryTraffic accumulated(const OpView& op) {
  return {add_bytes(op.input_bytes(1), op.input_bytes(1)), op.input_bytes(1)};
}

// Operands (dvalue, ...): the gradient of the element that was read is written to an array of gradients.
MemoryTraffic stored(const OpView& op) { return {op.input_bytes(0), op.input_bytes(0)}; }

void filter_gradient(Backward& backward, OpId forward, const char* to_input, const char* to_filter) {
  const GraphOp op = backward.op(forward);
  if (op.inputs.size() < 2) return generic_gradient(backward, forward);
  const Operand dy = backward.output_gradient(op), x = op.inputs[0], filter = op.inputs[1], sizes = Operand::none();
  if (backward.wants(op, 0))
    backward.contribute(x, backward.emit_like(forward, to_input, {sizes, filter, dy}, x, op.attributes));
  if (backward.wants(op, 1))
    backward.contribute(filter, backward.emit_like(forward, to_filter, {x, sizes, dy}, filter, op.attributes));
}
void conv2d_gradient(Backward& backward, OpId forward) {
  filter_gradient(backward, forward, "Conv2DBackpropInput", "Conv2DBackpropFilter");
}
void depthwise_gradient(Backward& backward, OpId forward) {
  filter_gradient(backward, forward, "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter");
}

constexpr bool fixed = false;  // not foldable

constexpr OpRow rows[] = {
    // type, class, FLOPs, factor, traffic, gradient, foldable
    {"Conv2D", OpClass::convolution, conv2d_flops, 2, all_operands, conv2d_gradient},
    {"Conv3D", OpClass::convolution, conv2d_flops, 2, all_operands, generic_gradient},
    {"Conv3DGrad", OpClass::convolution, twice_forward, 2, all_operands, no_gradient},
    {"_FusedConv2D", OpClass::convolution, conv2d_flops, 2, all_operands, generic_gradient},
    {"_FusedConv2DGrad", OpClass::convolution, twice_forward, 2, all_operands, no_gradient},
    {"DepthwiseConv2dNative", OpClass::depthwise, depthwise_flops, 2, all_operands, depthwise_gradient},
    {"FusedDepthwiseConv2dNative", OpClass::depthwise, depthwise_flops, 2, all_operands, generic_gradient},
    {"FusedDepthwiseConv2dNativeGrad", OpClass::depthwise, twice_forward, 2, all_operands, no_gradient},
    {"Conv2DBackpropInput", OpClass::convolution, conv2d_input_flops, 2, all_operands, generic_gradient},
    {"Conv2DBackpropInputGrad", OpClass::convolution, twice_forward, 2, all_operands, no_gradient},
    {"Conv2DBackpropFilter", OpClass::convolution, conv2d_filter_flops, 2, all_operands, no_gradient},
    {"Conv3DBackpropInputV2", OpClass::convolution, conv2d_input_flops, 2, all_operands, generic_gradient},
    {"Conv3DBackpropInputV2Grad", OpClass::convolution, twice_forward, 2, all_operands, no_gradient},
    {"Conv3DBackpropFilterV2", OpClass::convolution, conv2d_filter_flops, 2, all_operands, no_gradient},
    {"DepthwiseConv2dNativeBackpropInput", OpClass::depthwise, depthwise_input_flops, 2, all_operands, no_gradient},
    {"DepthwiseConv2dNativeBackpropFilter", OpClass::depthwise, depthwise_filter_flops, 2, all_operands, no_gradient},
    {"_FusedMatMul", OpClass::matmul, fused_matmul_flops, 2, all_operands, generic_gradient},
    {"_FusedMatMulGrad", OpClass::matmul, twice_forward, 2, all_operands, no_gradient},

    {"BiasAdd", elementwise, per_output, 1, all_operands, pass_gradient},
    {"BiasAddGrad", reduction, per_input, 1, all_operands, no_gradient},
    {"NotEqual", elementwise, per_output, 1, all_operands, no_gradient},
    {"FloorDiv", elementwise, per_output, 2, all_operands, no_gradient},
    {"Square", elementwise, per_output, 1, all_operands, from_input_gradient},
    {"SquareGrad", elementwise, per_output, 2, all_operands, no_gradient},
    {"SquaredDifference", elementwise, per_output, 2, all_operands, generic_gradient},
    {"SquaredDifferenceGrad", elementwise, per_input, 3, all_operands, no_gradient},
    {"Rsqrt", elementwise, per_output, 2, all_operands, from_output_gradient},
    {"RsqrtGrad", elementwise, per_output, 4, all_operands, no_gradient},
    {"InvGrad", elementwise, per_output, 3, all_operands, no_gradient},
    {"Log1p", elementwise, per_output, 2, all_operands, from_input_gradient},
    {"Log1pGrad", elementwise, per_output, 2, all_operands, no_gradient},
    {"Expm1", elementwise, per_output, 2, all_operands, from_output_gradient},
    {"Expm1Grad", elementwise, per_output, 2, all_operands, no_gradient},
    {"Relu6Grad", elementwise, per_output, 2, all_operands, no_gradient},
    {"IsFinite", elementwise, per_output, 1, all_operands, no_gradient},
    {"CheckNumerics", elementwise, per_output, 1, all_operands, pass_gradient},
    {"ZerosLike", movement, no_flops, 0, filled, no_gradient},
    {"OnesLike", movement, no_flops, 0, filled, no_gradient},
    {"Fill", movement, no_flops, 0, filled, no_gradient},
    {"BroadcastGradientArgs", elementwise, per_output, 1, all_operands, no_gradient},

    {"L2Loss", reduction, per_input, 2, all_operands, from_input_gradient},
    {"L2LossGrad", elementwise, per_output, 1, all_operands, no_gradient},
    {"All", reduction, per_input, 1, all_operands, no_gradient},
    {"Any", reduction, per_input, 1, all_operands, no_gradient},
    {"SparseSoftmaxCrossEntropyWithLogits", normalisation, per_input, 6, all_operands, generic_gradient},
    {"SparseSoftmaxCrossEntropyWithLogitsGrad", normalisation, twice_forward, 2, all_operands, no_gradient},
    {"SoftmaxCrossEntropyWithLogits", normalisation, per_input, 6, all_operands, generic_gradient},
    {"SoftmaxCrossEntropyWithLogitsGrad", normalisation, twice_forward, 2, all_operands, no_gradient},

    {"Pack", movement, no_flops, 0, all_operands, generic_gradient},
    {"PackGrad", movement, no_flops, 0, sliced, no_gradient},
    {"Unpack", movement, no_flops, 0, sliced, generic_gradient},
    {"UnpackGrad", movement, no_flops, 0, sliced, no_gradient},
    {"StridedSliceGrad", movement, no_flops, 0, filled, no_gradient},
    {"InvertPermutation", movement, no_flops, 0, all_operands, no_gradient},
    {"ConcatOffset", movement, no_flops, 0, all_operands, no_gradient},
    {"DynamicStitch", movement, no_flops, 0, all_operands, no_gradient},
    {"SpaceToBatchND", movement, no_flops, 0, all_operands, generic_gradient},
    {"SpaceToBatchNDGrad", movement, no_flops, 0, sliced, no_gradient},
    {"BatchToSpaceND", movement, no_flops, 0, all_operands, generic_gradient},
    {"BatchToSpaceNDGrad", movement, no_flops, 0, sliced, no_gradient},
    // Bilinear interpolation: four multiply-adds for each element.
    {"CropAndResize", movement, per_output, 8, all_operands, generic_gradient},
    {"CropAndResizeGrad", movement, twice_forward, 2, all_operands, no_gradient},

    // Variables. The type Variable itself is in op_rows_training.cpp.
    {"VarHandleOp", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"ReadVariableOp", nothing, no_flops, 0, no_traffic, pass_gradient, fixed},
    {"IsVariableInitialized", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"VarIsInitializedOp", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"Assign", movement, no_flops, 0, assigned, no_gradient, fixed},
    {"AssignVariableOp", movement, no_flops, 0, assigned, no_gradient, fixed},
    {"AssignAdd", elementwise, per_gradient, 1, accumulated, no_gradient, fixed},
    {"AssignSub", elementwise, per_gradient, 1, accumulated, no_gradient, fixed},
    {"AssignAddVariableOp", elementwise, per_gradient, 1, accumulated, no_gradient, fixed},
    {"AssignSubVariableOp", elementwise, per_gradient, 1, accumulated, no_gradient, fixed},

    // Control flow passes references forward and gradients backward. Readers cut the back edges of loops, so that
    // NextIteration is an output of the graph and has a gradient: one forward and one backward iteration are costed.
    {"Switch", nothing, no_flops, 0, no_traffic, route_gradient, fixed},
    {"RefSwitch", nothing, no_flops, 0, no_traffic, route_gradient, fixed},
    {"Merge", nothing, no_flops, 0, no_traffic, route_gradient, fixed},
    {"RefMerge", nothing, no_flops, 0, no_traffic, route_gradient, fixed},
    {"Enter", nothing, no_flops, 0, no_traffic, route_gradient, fixed},
    {"RefEnter", nothing, no_flops, 0, no_traffic, route_gradient, fixed},
    {"Exit", nothing, no_flops, 0, no_traffic, route_gradient, fixed},
    {"RefExit", nothing, no_flops, 0, no_traffic, route_gradient, fixed},
    {"NextIteration", nothing, no_flops, 0, no_traffic, route_gradient, fixed},
    {"RefNextIteration", nothing, no_flops, 0, no_traffic, route_gradient, fixed},
    {"LoopCond", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"ControlTrigger", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"NoOp", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"Assert", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"Placeholder", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"PlaceholderV2", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"PlaceholderWithDefault", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"_Arg", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"_Retval", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"IdentityN", nothing, no_flops, 0, no_traffic, generic_gradient},
    {"IdentityNGrad", nothing, no_flops, 0, no_traffic, no_gradient},
    {"StopGradient", nothing, no_flops, 0, no_traffic, no_gradient},
    {"PreventGradient", nothing, no_flops, 0, no_traffic, pass_gradient},
    {"Snapshot", nothing, no_flops, 0, no_traffic, pass_gradient},
    {"Rank", nothing, no_flops, 0, no_traffic, no_gradient},
    {"ShapeN", nothing, no_flops, 0, no_traffic, no_gradient},

    // Summaries for TensorBoard are texts.
    {"ScalarSummary", elementwise, per_output, 1, all_operands, no_gradient, fixed},
    {"HistogramSummary", reduction, per_input, 1, all_operands, no_gradient, fixed},
    {"MergeSummary", movement, no_flops, 0, all_operands, no_gradient, fixed},

    // Stacks and arrays that hold the tensors of loops: a push stores a reference, array reads and writes copy.
    {"StackV2", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"StackPushV2", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"StackPopV2", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"TensorArrayV3", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"TensorArrayGradV3", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"TensorArraySizeV3", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"TensorArrayReadV3", movement, no_flops, 0, sliced, generic_gradient, fixed},
    {"TensorArrayReadV3Grad", movement, no_flops, 0, stored, no_gradient},
    {"TensorArrayGatherV3", movement, no_flops, 0, sliced, generic_gradient, fixed},
    {"TensorArrayGatherV3Grad", movement, no_flops, 0, stored, no_gradient},
    {"TensorArrayWriteV3", movement, no_flops, 0, all_operands, generic_gradient, fixed},
    {"TensorArrayWriteV3Grad", movement, no_flops, 0, sliced, no_gradient},
    {"TensorArrayScatterV3", movement, no_flops, 0, all_operands, generic_gradient, fixed},
    {"TensorArrayScatterV3Grad", movement, no_flops, 0, sliced, no_gradient},
    {"TensorListReserve", nothing, no_flops, 0, no_traffic, no_gradient, fixed},
    {"TensorListFromTensor", movement, no_flops, 0, all_operands, generic_gradient, fixed},
    {"TensorListFromTensorGrad", movement, no_flops, 0, sliced, no_gradient},
    {"TensorListGetItem", movement, no_flops, 0, sliced, generic_gradient, fixed},
    {"TensorListGetItemGrad", movement, no_flops, 0, stored, no_gradient},
    {"TensorListSetItem", movement, no_flops, 0, all_operands, generic_gradient, fixed},
    {"TensorListSetItemGrad", movement, no_flops, 0, sliced, no_gradient},
    {"TensorListStack", movement, no_flops, 0, sliced, generic_gradient, fixed},
    {"TensorListStackGrad", movement, no_flops, 0, stored, no_gradient},
};

}  // namespace

std::span<const OpRow> tensorflow_rows() { return rows; }

}  // namespace emplace
