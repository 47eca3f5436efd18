// Op types under their PyTorch names, where ONNX has no op with the same operands. Ops that only make another view of
// their operand's data (slices, transposes, splits) cost nothing in PyTorch, while ONNX copies.
#include "graph/ops/op_rules.hpp"
#include "graph/training/gradients.hpp"

namespace emplace {

namespace {

constexpr OpClass elementwise = OpClass::elementwise, movement = OpClass::movement, reduction = OpClass::reduction,
                  normalisation = OpClass::normalisation, nothing = OpClass::free;

// (x, weight, bias): y = x weight^T + bias with the attribute transB, else x weight + bias.
double linear_flops(const OpView& op, double factor) {
  return matmul_flops(op, factor) + (op.has_input(2) ? op.output_elements(0) : 0);
}

void linear_gradient(Backward& backward, OpId forward) {
  matmul_gradient(backward, forward);
  const GraphOp op = backward.op(forward);
  if (backward.wants(op, 2))
    backward.contribute(op.inputs[2], backward.unbroadcast(forward, backward.output_gradient(op), op.inputs[2]));
}

constexpr OpRow rows[] = {
    // type, class, FLOPs, factor, traffic, gradient
    {"Linear", OpClass::matmul, linear_flops, 2, all_operands, linear_gradient},
    {"LinearGrad", OpClass::matmul, twice_forward, 2, all_operands, no_gradient},
    // (rows, weights of groups, ends of the groups): each row is multiplied with the weight of its group.
    {"aten.grouped_mm", OpClass::matmul, matmul_flops, 2, all_operands, generic_gradient},
    {"aten.grouped_mmGrad", OpClass::matmul, twice_forward, 2, all_operands, no_gradient},
    // The factor is the element-wise part of a gate, as for ONNX' LSTM.
    {"aten.lstm", OpClass::recurrent, recurrent_stack_flops, 6, all_operands, generic_gradient},
    {"aten.lstmGrad", OpClass::recurrent, twice_forward, 2, all_operands, no_gradient},
    {"aten.gru", OpClass::recurrent, recurrent_stack_flops, 6, all_operands, generic_gradient},
    {"aten.gruGrad", OpClass::recurrent, twice_forward, 2, all_operands, no_gradient},
    {"aten.rnn", OpClass::recurrent, recurrent_stack_flops, 3, all_operands, generic_gradient},
    {"aten.rnnGrad", OpClass::recurrent, twice_forward, 2, all_operands, no_gradient},

    {"aten.glu", elementwise, per_output, 5, all_operands, from_input_gradient},
    {"aten.gluGrad", elementwise, per_output, 5, all_operands, no_gradient},
    {"aten.addcmul", elementwise, per_output, 3, all_operands, generic_gradient},
    {"aten.addcmulGrad", elementwise, twice_forward, 2, all_operands, no_gradient},
    {"aten.diff", elementwise, per_output, 1, all_operands, generic_gradient},
    {"aten.diffGrad", elementwise, twice_forward, 1, all_operands, no_gradient},
    {"aten.index_add", elementwise, per_input, 1, all_operands, generic_gradient},
    {"aten.index_addGrad", elementwise, twice_forward, 1, all_operands, no_gradient},

    // Square, mean, root, and two products.
    {"aten.rms_norm", normalisation, per_output, 5, all_operands, normalisation_gradient},
    {"aten.rms_normGrad", normalisation, per_output, 10, all_operands, no_gradient},

    {"aten.var", reduction, per_input, 4, all_operands, from_input_gradient},
    {"aten.varGrad", reduction, per_output, 3, all_operands, no_gradient},
    // The comparisons of a sort of a thousand elements.
    {"aten.sort", reduction, per_input, 10, all_operands, generic_gradient},
    {"aten.sortGrad", movement, no_flops, 0, all_operands, no_gradient},
    {"aten.histc", reduction, per_input, 2, all_operands, no_gradient},

    {"aten.copy", movement, no_flops, 0, sliced, reshape_gradient},
    // A reshape of data that is not in the order of its dimensions.
    {"aten.contiguous", movement, no_flops, 0, sliced, reshape_gradient},
    {"GatherNDGrad", movement, no_flops, 0, all_operands, no_gradient},
    {"GatherElementsGrad", movement, no_flops, 0, all_operands, no_gradient},
    {"ScatterElementsGrad", movement, no_flops, 0, all_operands, no_gradient},

    {"aten.slice", nothing, no_flops, 0, no_traffic, slice_gradient},
    {"aten.permute", nothing, no_flops, 0, no_traffic, reshape_gradient},
    {"aten.expand", nothing, no_flops, 0, no_traffic, pass_gradient},
    {"aten.split", nothing, no_flops, 0, no_traffic, split_gradient},
};

}  // namespace

std::span<const OpRow> pytorch_rows() { return rows; }

}  // namespace emplace
