#include "graph/training/gradients.hpp"

namespace emplace {

void conv_gradient_by(Backward& backward, OpId forward, const char* to_input, const char* to_weight) {
  const GraphOp op = backward.op(forward);
  if (op.inputs.size() < 2) return generic_gradient(backward, forward);
  const Operand dy = backward.output_gradient(op), x = op.inputs[0], weight = op.inputs[1];
  if (backward.wants(op, 0))
    backward.contribute(x, backward.emit_like(forward, to_input, {dy, weight}, x, op.attributes));
  if (backward.wants(op, 1))
    backward.contribute(weight, backward.emit_like(forward, to_weight, {dy, x}, weight, op.attributes));
  if (backward.wants(op, 2))
    backward.contribute(op.inputs[2], backward.emit_like(forward, "ReduceSum", {dy}, op.inputs[2]));
}

void conv_gradient(Backward& backward, OpId forward) {
  conv_gradient_by(backward, forward, "ConvGradInput", "ConvGradWeight");
}

// The adjoint of a transposed convolution is a convolution with the same weight.
void conv_transpose_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (op.inputs.size() < 2) return generic_gradient(backward, forward);
  const Operand dy = backward.output_gradient(op), x = op.inputs[0], weight = op.inputs[1];
  if (backward.wants(op, 0))
    backward.contribute(x, backward.emit_like(forward, "Conv", {dy, weight}, x, op.attributes));
  if (backward.wants(op, 1))
    backward.contribute(weight, backward.emit_like(forward, "ConvGradWeight", {x, dy}, weight, op.attributes));
  if (backward.wants(op, 2))
    backward.contribute(op.inputs[2], backward.emit_like(forward, "ReduceSum", {dy}, op.inputs[2]));
}

void normalisation_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  std::vector<Operand> wanted;
  for (std::size_t i = 0; i < 3; ++i)
    if (backward.wants(op, i)) wanted.push_back(op.inputs[i]);
  if (wanted.empty()) return;
  std::vector<Operand> inputs{backward.output_gradient(op), op.inputs[0]};
  if (op.inputs.size() > 1) inputs.push_back(op.inputs[1]);
  const auto gradients = backward.emit_several(forward, op.type + "Grad", inputs, wanted, op.attributes);
  for (std::size_t i = 0; i < wanted.size(); ++i) backward.contribute(wanted[i], gradients[i]);
}

void pool_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (!backward.wants(op, 0)) return;
  const std::vector<Operand> inputs{backward.output_gradient(op), op.inputs[0], Operand::of(op.outputs[0])};
  backward.contribute(op.inputs[0], backward.emit_like(forward, op.type + "Grad", inputs, op.inputs[0], op.attributes));
}

void average_pool_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (!backward.wants(op, 0)) return;
  backward.contribute(op.inputs[0], backward.emit_like(forward, op.type + "Grad", {backward.output_gradient(op)},
                                                       op.inputs[0], op.attributes));
}

}  // namespace emplace
