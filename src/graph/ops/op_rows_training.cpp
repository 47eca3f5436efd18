// Types that only passes create: gradients without an ONNX name, parameters shared by several ops, optimiser steps,
// merged ops.
#include "graph/ops/op_rules.hpp"
#include "graph/training/gradients.hpp"

namespace emplace {

namespace {

constexpr OpClass elementwise = OpClass::elementwise, movement = OpClass::movement, reduction = OpClass::reduction,
                  normalisation = OpClass::normalisation, pooling = OpClass::pooling, update = OpClass::update;

constexpr OpRow rows[] = {
    // type, class, FLOPs, factor, traffic, gradient
    {"Variable", OpClass::free, no_flops, 0, no_traffic, no_gradient},
    // The derivative of the objective by a model's output: for each element, one subtraction from the target.
    {"OutputGrad", elementwise, per_output, 1, all_operands, no_gradient},

    // (dY, W) -> dX: every element of dY is multiplied with every weight of its channel.
    {"ConvGradInput", OpClass::convolution, conv_scatter_flops, 2, all_operands, no_gradient},
    // (dY, X) -> dW.
    {"ConvGradWeight", OpClass::convolution, conv_grad_weight_flops, 2, all_operands, no_gradient},
    {"LSTMGrad", OpClass::recurrent, twice_forward, 2, all_operands, no_gradient},
    {"GRUGrad", OpClass::recurrent, twice_forward, 2, all_operands, no_gradient},
    {"RNNGrad", OpClass::recurrent, twice_forward, 2, all_operands, no_gradient},

    {"EinsumGrad", OpClass::matmul, twice_forward, 2, all_operands, no_gradient},
    {"AttentionGrad", OpClass::matmul, twice_forward, 2, all_operands, no_gradient},
    {"MatMulGrad", OpClass::matmul, twice_forward, 2, all_operands, no_gradient},
    {"MaxGrad", elementwise, per_input, 2, all_operands, no_gradient},
    {"MinGrad", elementwise, per_input, 2, all_operands, no_gradient},
    {"MeanGrad", elementwise, per_input, 1, all_operands, no_gradient},
    {"PReluGrad", elementwise, per_input, 4, all_operands, no_gradient},
    {"AbsGrad", elementwise, per_output, 2, all_operands, no_gradient},
    {"ReciprocalGrad", elementwise, per_output, 3, all_operands, no_gradient},
    {"SqrtGrad", elementwise, per_output, 2, all_operands, no_gradient},
    {"ExpGrad", elementwise, per_output, 1, all_operands, no_gradient},
    {"LogGrad", elementwise, per_output, 1, all_operands, no_gradient},
    {"PowGrad", elementwise, per_output, 3, all_operands, no_gradient},
    {"ErfGrad", elementwise, per_output, 4, all_operands, no_gradient},
    {"SinGrad", elementwise, per_output, 2, all_operands, no_gradient},
    {"CosGrad", elementwise, per_output, 3, all_operands, no_gradient},
    {"ReluGrad", elementwise, per_output, 1, all_operands, no_gradient},
    {"LeakyReluGrad", elementwise, per_output, 2, all_operands, no_gradient},
    {"EluGrad", elementwise, per_output, 3, all_operands, no_gradient},
    {"SeluGrad", elementwise, per_output, 3, all_operands, no_gradient},
    {"ClipGrad", elementwise, per_output, 3, all_operands, no_gradient},
    {"SigmoidGrad", elementwise, per_output, 3, all_operands, no_gradient},
    {"HardSigmoidGrad", elementwise, per_output, 3, all_operands, no_gradient},
    {"HardSwishGrad", elementwise, per_output, 6, all_operands, no_gradient},
    {"TanhGrad", elementwise, per_output, 3, all_operands, no_gradient},
    {"SoftplusGrad", elementwise, per_output, 5, all_operands, no_gradient},
    {"SoftsignGrad", elementwise, per_output, 4, all_operands, no_gradient},
    {"GeluGrad", elementwise, per_output, 9, all_operands, no_gradient},

    // Two reductions (the gradients of bias and scale), and five operations per element for dX.
    {"BatchNormalizationGrad", normalisation, per_output, 10, all_operands, no_gradient},
    {"InstanceNormalizationGrad", normalisation, per_output, 10, all_operands, no_gradient},
    {"LayerNormalizationGrad", normalisation, per_output, 10, all_operands, no_gradient},
    {"RMSNormalizationGrad", normalisation, per_output, 10, all_operands, no_gradient},
    {"RotaryEmbeddingGrad", elementwise, per_input, 3, all_operands, no_gradient},
    {"GroupNormalizationGrad", normalisation, per_output, 10, all_operands, no_gradient},
    {"LpNormalizationGrad", normalisation, per_output, 6, all_operands, no_gradient},
    {"LRNGrad", normalisation, per_output, 16, all_operands, no_gradient},
    {"SoftmaxGrad", normalisation, per_output, 4, all_operands, no_gradient},
    {"LogSoftmaxGrad", normalisation, per_output, 4, all_operands, no_gradient},
    // exp of the log-probability, minus the one-hot label, times dY.
    {"SoftmaxCrossEntropyLossGrad", normalisation, per_output, 3, all_operands, no_gradient},

    {"ReduceMaxGrad", reduction, per_output, 2, all_operands, no_gradient},
    {"ReduceMinGrad", reduction, per_output, 2, all_operands, no_gradient},
    {"ReduceProdGrad", reduction, per_output, 2, all_operands, no_gradient},
    {"ReduceL1Grad", reduction, per_output, 2, all_operands, no_gradient},
    {"ReduceL2Grad", reduction, per_output, 2, all_operands, no_gradient},
    {"ReduceSumSquareGrad", reduction, per_output, 2, all_operands, no_gradient},
    {"ReduceLogSumExpGrad", reduction, per_output, 3, all_operands, no_gradient},
    {"CumSumGrad", reduction, per_output, 1, all_operands, no_gradient},

    {"MaxPoolGrad", pooling, pool_flops_of_gradient, 1, all_operands, no_gradient},
    {"AveragePoolGrad", pooling, pool_flops_of_gradient, 1, all_operands, no_gradient},
    {"LpPoolGrad", pooling, pool_flops_of_gradient, 2, all_operands, no_gradient},
    {"GlobalAveragePoolGrad", pooling, per_output, 1, all_operands, no_gradient},
    {"GridSampleGrad", pooling, twice_forward, 2, all_operands, no_gradient},
    {"GlobalMaxPoolGrad", pooling, per_output, 1, all_operands, no_gradient},

    {"TileGrad", reduction, per_input, 1, all_operands, no_gradient},
    {"DepthToSpaceGrad", movement, no_flops, 0, all_operands, no_gradient},
    {"SpaceToDepthGrad", movement, no_flops, 0, all_operands, no_gradient},
    {"TriluGrad", movement, no_flops, 0, all_operands, no_gradient},
    {"ReverseSequenceGrad", movement, no_flops, 0, all_operands, no_gradient},
    {"ResizeGrad", movement, per_input, 8, all_operands, no_gradient},
    {"UpsampleGrad", movement, per_input, 8, all_operands, no_gradient},
    // (dvalues, dindices, X) -> zeros, with dvalues at the positions that TopK selected.
    {"TopKGrad", movement, no_flops, 0, all_operands, no_gradient},
    // (dY, data, indices, updates) -> the rows of dY to which the updates were written.
    {"ScatterNDGrad", movement, no_flops, 0, sliced, no_gradient},
    // (dY, indices) -> rows added into zeros of the table's size.
    {"GatherGrad", OpClass::embedding, per_input, 1, all_operands, no_gradient},

    // Inputs (parameter, gradient): w -= rate g.
    {"ApplyGradientDescent", update, per_gradient, 2, update_stateless, no_gradient},
    // v = m v + g; w -= rate v.
    {"ApplyMomentum", update, per_gradient, 4, update_one_state, no_gradient},
    // Two moving averages (3 + 4), square root, add, divide, scale and subtract.
    {"ApplyAdam", update, per_gradient, 12, update_two_states, no_gradient},
    // Inputs (parameter, rows of the gradient, their indices): only these rows are read and written.
    {"SparseApplyGradientDescent", update, per_gradient, 2, update_stateless, no_gradient},
    {"SparseApplyMomentum", update, per_gradient, 4, update_one_state, no_gradient},
    {"SparseApplyAdam", update, per_gradient, 12, update_two_states, no_gradient},

    // Several ops merged into one (passes/merge.cpp): the costs are attributes.
    {"MatmulLayer", OpClass::matmul, stated_flops, 0, stated_traffic, generic_gradient},
    {"ConvolutionLayer", OpClass::convolution, stated_flops, 0, stated_traffic, generic_gradient},
    {"DepthwiseLayer", OpClass::depthwise, stated_flops, 0, stated_traffic, generic_gradient},
    {"RecurrentLayer", OpClass::recurrent, stated_flops, 0, stated_traffic, generic_gradient},
    {"ElementwiseLayer", OpClass::elementwise, stated_flops, 0, stated_traffic, generic_gradient},
    {"NormalisationLayer", OpClass::normalisation, stated_flops, 0, stated_traffic, generic_gradient},
    {"ReductionLayer", OpClass::reduction, stated_flops, 0, stated_traffic, generic_gradient},
    {"PoolingLayer", OpClass::pooling, stated_flops, 0, stated_traffic, generic_gradient},
    {"MovementLayer", OpClass::movement, stated_flops, 0, stated_traffic, generic_gradient},
    {"EmbeddingLayer", OpClass::embedding, stated_flops, 0, stated_traffic, generic_gradient},
    {"UpdateLayer", OpClass::update, stated_flops, 0, stated_traffic, no_gradient},
    {"FreeLayer", OpClass::free, stated_flops, 0, stated_traffic, generic_gradient},
    {"OtherLayer", OpClass::other, stated_flops, 0, stated_traffic, generic_gradient},
    {"MatmulLayerGrad", OpClass::matmul, twice_forward, 2, all_operands, no_gradient},
    {"ConvolutionLayerGrad", OpClass::convolution, twice_forward, 2, all_operands, no_gradient},
    {"DepthwiseLayerGrad", OpClass::depthwise, twice_forward, 2, all_operands, no_gradient},
    {"RecurrentLayerGrad", OpClass::recurrent, twice_forward, 2, all_operands, no_gradient},
    {"ElementwiseLayerGrad", OpClass::elementwise, twice_forward, 2, all_operands, no_gradient},
    {"NormalisationLayerGrad", OpClass::normalisation, twice_forward, 2, all_operands, no_gradient},
    {"ReductionLayerGrad", OpClass::reduction, twice_forward, 2, all_operands, no_gradient},
    {"PoolingLayerGrad", OpClass::pooling, twice_forward, 2, all_operands, no_gradient},
    {"MovementLayerGrad", OpClass::movement, twice_forward, 2, all_operands, no_gradient},
    {"EmbeddingLayerGrad", OpClass::embedding, twice_forward, 2, all_operands, no_gradient},
    {"FreeLayerGrad", OpClass::free, twice_forward, 2, all_operands, no_gradient},
    {"OtherLayerGrad", OpClass::other, twice_forward, 2, all_operands, no_gradient},
};

}  // namespace

std::span<const OpRow> training_rows() { return rows; }

}  // namespace emplace
