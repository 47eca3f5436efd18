// Forward op types under their ONNX names (and Detach, a name of PyTorch).
//
// FLOPs per element count additions, multiplications, divisions, comparisons and elementary functions as one each:
// Sigmoid = negate, exp, add, divide = 4.
#include "graph/ops/op_rules.hpp"
#include "graph/training/gradients.hpp"

namespace emplace {

namespace {

constexpr OpClass elementwise = OpClass::elementwise, movement = OpClass::movement, reduction = OpClass::reduction,
                  normalisation = OpClass::normalisation, pooling = OpClass::pooling, nothing = OpClass::free;

// Into a sequence of its parts, whose size a graph does not say.
MemoryTraffic into_sequence(const OpView& op) { return {op.input_bytes(0), op.input_bytes(0)}; }

// Operands (value, example): only the type of the example matters.
MemoryTraffic cast_like(const OpView& op) { return {op.input_bytes(0), op.output_bytes(0)}; }

constexpr OpRow rows[] = {
    // type, class, FLOPs, factor, traffic, gradient
    {"MatMul", OpClass::matmul, matmul_flops, 2, all_operands, matmul_gradient},
    {"Gemm", OpClass::matmul, gemm_flops, 2, all_operands, gemm_gradient},
    {"MatMulInteger", OpClass::matmul, matmul_flops, 2, all_operands, no_gradient},
    {"Conv", OpClass::convolution, conv_flops, 2, all_operands, conv_gradient},
    {"ConvTranspose", OpClass::convolution, conv_scatter_flops, 2, all_operands, conv_transpose_gradient},
    {"ConvInteger", OpClass::convolution, conv_flops, 2, all_operands, no_gradient},
    {"Einsum", OpClass::matmul, einsum_flops, 2, all_operands, generic_gradient},
    {"Attention", OpClass::matmul, attention_flops, 5, all_operands, generic_gradient},
    // The factor is the element-wise part of a gate: its activation and its share of the state's update.
    {"LSTM", OpClass::recurrent, recurrent_flops, 6, all_operands, generic_gradient},
    {"GRU", OpClass::recurrent, recurrent_flops, 6, all_operands, generic_gradient},
    {"RNN", OpClass::recurrent, recurrent_flops, 3, all_operands, generic_gradient},

    {"Add", elementwise, per_output, 1, all_operands, pass_gradient},
    {"Sub", elementwise, per_output, 1, all_operands, sub_gradient},
    {"Mul", elementwise, per_output, 1, all_operands, mul_gradient},
    {"Div", elementwise, per_output, 1, all_operands, div_gradient},
    {"Neg", elementwise, per_output, 1, all_operands, neg_gradient},
    {"Abs", elementwise, per_output, 1, all_operands, from_input_gradient},
    {"Reciprocal", elementwise, per_output, 1, all_operands, from_output_gradient},
    {"Sqrt", elementwise, per_output, 1, all_operands, from_output_gradient},
    {"Exp", elementwise, per_output, 1, all_operands, from_output_gradient},
    {"Log", elementwise, per_output, 1, all_operands, from_input_gradient},
    {"Pow", elementwise, per_output, 1, all_operands, from_input_gradient},
    {"Erf", elementwise, per_output, 1, all_operands, from_input_gradient},
    {"Sin", elementwise, per_output, 1, all_operands, from_input_gradient},
    {"Cos", elementwise, per_output, 1, all_operands, from_input_gradient},
    {"Sum", elementwise, per_operand, 1, all_operands, pass_gradient},
    {"Mean", elementwise, per_operand, 1, all_operands, generic_gradient},
    {"Max", elementwise, per_operand, 1, all_operands, generic_gradient},
    {"Min", elementwise, per_operand, 1, all_operands, generic_gradient},
    {"Mod", elementwise, per_output, 1, all_operands, no_gradient},
    {"Floor", elementwise, per_output, 1, all_operands, no_gradient},
    {"Ceil", elementwise, per_output, 1, all_operands, no_gradient},
    {"Round", elementwise, per_output, 1, all_operands, no_gradient},
    {"Sign", elementwise, per_output, 1, all_operands, no_gradient},
    {"Relu", elementwise, per_output, 1, all_operands, from_output_gradient},
    {"LeakyRelu", elementwise, per_output, 2, all_operands, from_input_gradient},
    {"PRelu", elementwise, per_output, 2, all_operands, generic_gradient},
    {"Elu", elementwise, per_output, 3, all_operands, from_output_gradient},
    {"Selu", elementwise, per_output, 4, all_operands, from_output_gradient},
    {"Clip", elementwise, per_output, 2, all_operands, from_input_gradient},
    {"Sigmoid", elementwise, per_output, 4, all_operands, from_output_gradient},
    {"HardSigmoid", elementwise, per_output, 4, all_operands, from_input_gradient},
    {"HardSwish", elementwise, per_output, 5, all_operands, from_input_gradient},
    {"Tanh", elementwise, per_output, 1, all_operands, from_output_gradient},
    {"Softplus", elementwise, per_output, 3, all_operands, from_input_gradient},
    {"Softsign", elementwise, per_output, 3, all_operands, from_input_gradient},
    {"Gelu", elementwise, per_output, 5, all_operands, from_input_gradient},
    {"Where", elementwise, per_output, 1, all_operands, where_gradient},
    {"Dropout", elementwise, per_output, 1, all_operands, dropout_gradient},
    {"Equal", elementwise, per_output, 1, all_operands, no_gradient},
    {"Greater", elementwise, per_output, 1, all_operands, no_gradient},
    {"GreaterOrEqual", elementwise, per_output, 1, all_operands, no_gradient},
    {"Less", elementwise, per_output, 1, all_operands, no_gradient},
    {"LessOrEqual", elementwise, per_output, 1, all_operands, no_gradient},
    {"Not", elementwise, per_output, 1, all_operands, no_gradient},
    {"And", elementwise, per_output, 1, all_operands, no_gradient},
    {"Or", elementwise, per_output, 1, all_operands, no_gradient},
    {"Xor", elementwise, per_output, 1, all_operands, no_gradient},
    {"IsNaN", elementwise, per_output, 1, all_operands, no_gradient},
    {"IsInf", elementwise, per_output, 1, all_operands, no_gradient},
    {"BitwiseAnd", elementwise, per_output, 1, all_operands, no_gradient},
    {"BitwiseOr", elementwise, per_output, 1, all_operands, no_gradient},
    {"BitwiseXor", elementwise, per_output, 1, all_operands, no_gradient},
    {"BitwiseNot", elementwise, per_output, 1, all_operands, no_gradient},
    {"BitShift", elementwise, per_output, 1, all_operands, no_gradient},
    // A rotation of pairs of elements: two products and a sum for each.
    {"RotaryEmbedding", elementwise, per_output, 3, all_operands, generic_gradient},
    {"QuantizeLinear", elementwise, per_output, 3, all_operands, no_gradient},
    {"DequantizeLinear", elementwise, per_output, 2, all_operands, no_gradient},
    {"RandomNormal", elementwise, per_output, 8, all_operands, no_gradient},
    {"RandomNormalLike", elementwise, per_output, 8, filled, no_gradient},
    {"RandomUniform", elementwise, per_output, 4, all_operands, no_gradient},
    {"RandomUniformLike", elementwise, per_output, 4, filled, no_gradient},

    {"BatchNormalization", normalisation, batch_norm_flops, 2, all_operands, normalisation_gradient},
    {"InstanceNormalization", normalisation, per_output, 8, all_operands, normalisation_gradient},
    {"LayerNormalization", normalisation, per_output, 8, all_operands, normalisation_gradient},
    {"GroupNormalization", normalisation, per_output, 8, all_operands, normalisation_gradient},
    // Square, mean, root, and two products.
    {"RMSNormalization", normalisation, per_output, 5, all_operands, normalisation_gradient},
    {"LpNormalization", normalisation, per_output, 4, all_operands, from_input_gradient},
    // Five squares and sums (a window of five channels), a power and a division.
    {"LRN", normalisation, per_output, 12, all_operands, from_input_gradient},
    {"Softmax", normalisation, per_output, 5, all_operands, from_output_gradient},
    {"LogSoftmax", normalisation, per_output, 5, all_operands, from_output_gradient},
    {"SoftmaxCrossEntropyLoss", normalisation, per_input, 5, all_operands, loss_gradient},

    {"ReduceMean", reduction, per_input, 1, all_operands, reduction_gradient},
    {"ReduceSum", reduction, per_input, 1, all_operands, reduction_gradient},
    {"ReduceMax", reduction, per_input, 1, all_operands, from_input_gradient},
    {"ReduceMin", reduction, per_input, 1, all_operands, from_input_gradient},
    {"ReduceProd", reduction, per_input, 1, all_operands, from_input_gradient},
    {"ReduceL1", reduction, per_input, 2, all_operands, from_input_gradient},
    {"ReduceL2", reduction, per_input, 2, all_operands, from_input_gradient},
    {"ReduceSumSquare", reduction, per_input, 2, all_operands, from_input_gradient},
    {"ReduceLogSumExp", reduction, per_input, 3, all_operands, from_input_gradient},
    {"CumSum", reduction, per_input, 1, all_operands, from_input_gradient},
    {"ArgMax", reduction, per_input, 1, all_operands, no_gradient},
    {"ArgMin", reduction, per_input, 1, all_operands, no_gradient},
    // The comparisons of a partial sort.
    {"TopK", reduction, per_input, 4, all_operands, nullptr},
    {"NonZero", reduction, per_input, 1, all_operands, no_gradient},

    {"MaxPool", pooling, pool_flops, 1, all_operands, pool_gradient},
    {"AveragePool", pooling, pool_flops, 1, all_operands, average_pool_gradient},
    {"LpPool", pooling, pool_flops, 2, all_operands, pool_gradient},
    {"GlobalAveragePool", pooling, per_input, 1, all_operands, average_pool_gradient},
    {"GlobalMaxPool", pooling, per_input, 1, all_operands, pool_gradient},
    // Bilinear interpolation: four multiply-adds for each element.
    {"GridSample", pooling, per_output, 8, all_operands, generic_gradient},

    {"Concat", movement, no_flops, 0, all_operands, concat_gradient},
    {"Split", movement, no_flops, 0, sliced, split_gradient},
    {"SplitToSequence", movement, no_flops, 0, into_sequence, no_gradient},
    {"SequenceAt", nothing, no_flops, 0, no_traffic, no_gradient},
    {"Slice", movement, no_flops, 0, sliced, slice_gradient},
    {"Pad", movement, no_flops, 0, all_operands, pad_gradient},
    {"Transpose", movement, no_flops, 0, all_operands, transpose_gradient},
    {"Expand", movement, no_flops, 0, all_operands, pass_gradient},
    {"Tile", movement, no_flops, 0, all_operands, generic_gradient},
    {"Cast", movement, no_flops, 0, all_operands, cast_gradient},
    {"CastLike", movement, no_flops, 0, cast_like, cast_gradient},
    {"DepthToSpace", movement, no_flops, 0, all_operands, from_input_gradient},
    {"SpaceToDepth", movement, no_flops, 0, all_operands, from_input_gradient},
    {"ConstantOfShape", movement, no_flops, 0, filled, no_gradient},
    {"Range", movement, no_flops, 0, filled, no_gradient},
    {"OneHot", movement, no_flops, 0, filled, no_gradient},
    {"EyeLike", movement, no_flops, 0, filled, no_gradient},
    {"Trilu", movement, no_flops, 0, all_operands, from_input_gradient},
    {"ReverseSequence", movement, no_flops, 0, all_operands, from_input_gradient},
    {"ScatterND", movement, no_flops, 0, all_operands, nullptr},
    {"ScatterElements", movement, no_flops, 0, all_operands, nullptr},
    // Bilinear interpolation: four multiply-adds for each element.
    {"Resize", movement, per_output, 8, all_operands, from_input_gradient},
    {"Upsample", movement, per_output, 8, all_operands, from_input_gradient},

    {"Gather", OpClass::embedding, no_flops, 0, gathered, gather_gradient},
    {"GatherElements", OpClass::embedding, no_flops, 0, gathered, nullptr},
    {"GatherND", OpClass::embedding, no_flops, 0, gathered, nullptr},

    {"Reshape", nothing, no_flops, 0, no_traffic, reshape_gradient},
    {"Flatten", nothing, no_flops, 0, no_traffic, reshape_gradient},
    {"Squeeze", nothing, no_flops, 0, no_traffic, reshape_gradient},
    {"Unsqueeze", nothing, no_flops, 0, no_traffic, reshape_gradient},
    {"Identity", nothing, no_flops, 0, no_traffic, pass_gradient},
    // PyTorch's name for passing on a value without its gradient (Transformer-XL's memory).
    {"Detach", nothing, no_flops, 0, no_traffic, no_gradient},
    {"Shape", nothing, no_flops, 0, no_traffic, no_gradient},
    {"Size", nothing, no_flops, 0, no_traffic, no_gradient},
    {"Constant", nothing, no_flops, 0, no_traffic, no_gradient},
};

}  // namespace

std::span<const OpRow> onnx_rows() { return rows; }

}  // namespace emplace
