#include "graph/training/gradients.hpp"

namespace emplace {

void no_gradient(Backward&, OpId) {}

void generic_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  std::vector<Operand> inputs, wanted;
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    if (const Operand dy = backward.output_gradient(op, i); dy.is_tensor()) inputs.push_back(dy);
  inputs.insert(inputs.end(), op.inputs.begin(), op.inputs.end());
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (backward.wants(op, i)) wanted.push_back(op.inputs[i]);
  if (wanted.empty()) return;
  const auto gradients = backward.emit_several(forward, op.type + "Grad", inputs, wanted, op.attributes);
  for (std::size_t i = 0; i < wanted.size(); ++i) backward.contribute(wanted[i], gradients[i]);
}

void pass_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  const Operand dy = backward.output_gradient(op);
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (backward.wants(op, i)) backward.contribute(op.inputs[i], backward.unbroadcast(forward, dy, op.inputs[i]));
}

void route_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  for (std::size_t k = 0; k < op.outputs.size(); ++k) {
    const Operand dy = backward.output_gradient(op, k);
    for (std::size_t i = 0; dy.is_tensor() && i < op.inputs.size(); ++i)
      if (backward.wants(op, i)) backward.contribute(op.inputs[i], dy);
  }
}

void sub_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  const Operand dy = backward.output_gradient(op);
  if (backward.wants(op, 0)) backward.contribute(op.inputs[0], backward.unbroadcast(forward, dy, op.inputs[0]));
  if (!backward.wants(op, 1)) return;
  const Operand negated = backward.emit_like(forward, "Neg", {dy}, dy);
  backward.contribute(op.inputs[1], backward.unbroadcast(forward, negated, op.inputs[1]));
}

namespace {

// Y = X c or X / c, where c is an attribute, as in PyTorch: dX = dY c or dY / c.
void scale_gradient(Backward& backward, const GraphOp& op, OpId forward) {
  if (!backward.wants(op, 0)) return;
  const Operand dy = backward.output_gradient(op);
  backward.contribute(op.inputs[0], backward.emit_like(forward, op.type, {dy}, op.inputs[0], op.attributes));
}

}  // namespace

void mul_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (op.inputs.size() < 2) return scale_gradient(backward, op, forward);
  const Operand dy = backward.output_gradient(op);
  for (std::size_t i = 0; i < 2 && i < op.inputs.size(); ++i) {
    if (!backward.wants(op, i)) continue;
    const Operand product = backward.emit_like(forward, "Mul", {dy, op.inputs[1 - i]}, dy);
    backward.contribute(op.inputs[i], backward.unbroadcast(forward, product, op.inputs[i]));
  }
}

void div_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (op.inputs.size() < 2) return scale_gradient(backward, op, forward);
  const Operand dy = backward.output_gradient(op);
  const Operand quotient = backward.emit_like(forward, "Div", {dy, op.inputs[1]}, dy);
  if (backward.wants(op, 0)) backward.contribute(op.inputs[0], backward.unbroadcast(forward, quotient, op.inputs[0]));
  if (!backward.wants(op, 1)) return;
  const Operand product = backward.emit_like(forward, "Mul", {quotient, Operand::of(op.outputs[0])}, dy);
  const Operand negated = backward.emit_like(forward, "Neg", {product}, dy);
  backward.contribute(op.inputs[1], backward.unbroadcast(forward, negated, op.inputs[1]));
}

void neg_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  const Operand dy = backward.output_gradient(op);
  if (backward.wants(op, 0)) backward.contribute(op.inputs[0], backward.emit_like(forward, "Neg", {dy}, dy));
}

void from_output_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (!backward.wants(op, 0)) return;
  const std::vector<Operand> inputs{backward.output_gradient(op), Operand::of(op.outputs[0])};
  backward.contribute(op.inputs[0], backward.emit_like(forward, op.type + "Grad", inputs, op.inputs[0], op.attributes));
}

void from_input_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (!backward.wants(op, 0)) return;
  std::vector<Operand> inputs{backward.output_gradient(op)};
  inputs.insert(inputs.end(), op.inputs.begin(), op.inputs.end());
  backward.contribute(op.inputs[0], backward.emit_like(forward, op.type + "Grad", inputs, op.inputs[0], op.attributes));
}

void where_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  const Operand dy = backward.output_gradient(op), zero = Operand::none();
  for (std::size_t i = 1; i < 3; ++i) {
    if (!backward.wants(op, i)) continue;
    const std::vector<Operand> inputs =
        i == 1 ? std::vector<Operand>{op.inputs[0], dy, zero} : std::vector<Operand>{op.inputs[0], zero, dy};
    const Operand chosen = backward.emit_like(forward, "Where", inputs, dy);
    backward.contribute(op.inputs[i], backward.unbroadcast(forward, chosen, op.inputs[i]));
  }
}

namespace {

bool is_set(const GraphOp& op, const char* attribute) {
  const auto found = op.attributes.find(attribute);
  if (found == op.attributes.end()) return false;
  const auto* value = std::get_if<std::int64_t>(&found->second);
  return value != nullptr && *value != 0;
}

Backward::Attributes transposing(bool a, bool b) {
  Backward::Attributes attributes;
  if (a) attributes["transA"] = std::int64_t{1};
  if (b) attributes["transB"] = std::int64_t{1};
  return attributes;
}

// The shape with the batch dimensions of `batch`, then rows x columns.
Shape matrix_shape(const Shape& batch, std::int64_t rows, std::int64_t columns) {
  Shape shape = batch;
  shape.dims[shape.dims.size() - 2] = rows;
  shape.dims[shape.dims.size() - 1] = columns;
  return shape;
}

}  // namespace

// Y = A B, or A B^T with the attribute transB (not in ONNX; models of the zoo and gradients use it). Leading dimensions
// are batches that broadcast.
void matmul_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (op.inputs.size() < 2) return generic_gradient(backward, forward);
  const Operand dy = backward.output_gradient(op), a = op.inputs[0], b = op.inputs[1];
  const Shape sa = backward.shape_of(a), sb = backward.shape_of(b), sy = backward.shape_of(dy);
  const bool plain = sa.ranked && sb.ranked && sy.ranked && sa.dims.size() >= 2 && sb.dims.size() >= 2 &&
                     sy.dims.size() >= 2 && !is_set(op, "transA");
  if (!plain) return generic_gradient(backward, forward);
  const bool tb = is_set(op, "transB");
  const std::int64_t m = sy.dims[sy.dims.size() - 2], n = sy.dims.back(), k = sa.dims.back();
  const DType dtype = backward.dtype_of(dy);
  if (backward.wants(op, 0)) {
    const Operand da =
        backward.emit(forward, "MatMul", {dy, b}, matrix_shape(sy, m, k), dtype, transposing(false, !tb));
    backward.contribute(a, backward.unbroadcast(forward, da, a));
  }
  if (!backward.wants(op, 1)) return;
  const Operand first = tb ? dy : a, second = tb ? a : dy;
  if (sb.dims.size() == 2 && sa.dims.size() == sy.dims.size()) {
    // The whole batch uses one weight: the sum over the batch is part of the product (Gemm flattens leading
    // dimensions).
    const char* type = sa.dims.size() == 2 ? "MatMul" : "Gemm";
    backward.contribute(b, backward.emit_like(forward, type, {first, second}, b, transposing(true, false)));
    return;
  }
  const Shape shape = tb ? matrix_shape(sy, n, k) : matrix_shape(sy, k, n);
  const Operand db = backward.emit(forward, "MatMul", {first, second}, shape, dtype, transposing(true, false));
  backward.contribute(b, backward.unbroadcast(forward, db, b));
}

void gemm_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (op.inputs.size() < 2) return generic_gradient(backward, forward);
  const Operand dy = backward.output_gradient(op), a = op.inputs[0], b = op.inputs[1];
  const bool ta = is_set(op, "transA"), tb = is_set(op, "transB");
  if (backward.wants(op, 0)) {
    const Operand da = ta ? backward.emit_like(forward, "Gemm", {b, dy}, a, transposing(tb, true))
                          : backward.emit_like(forward, "Gemm", {dy, b}, a, transposing(false, !tb));
    backward.contribute(a, da);
  }
  if (backward.wants(op, 1)) {
    const Operand db = tb ? backward.emit_like(forward, "Gemm", {dy, a}, b, transposing(true, ta))
                          : backward.emit_like(forward, "Gemm", {a, dy}, b, transposing(!ta, false));
    backward.contribute(b, db);
  }
  if (backward.wants(op, 2)) backward.contribute(op.inputs[2], backward.unbroadcast(forward, dy, op.inputs[2]));
}

// The division of a mean's gradient by the count is part of the same kernel.
void reduction_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (backward.wants(op, 0))
    backward.contribute(op.inputs[0],
                        backward.emit_like(forward, "Expand", {backward.output_gradient(op)}, op.inputs[0]));
}

void dropout_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (!backward.wants(op, 0)) return;
  std::vector<Operand> inputs{backward.output_gradient(op)};
  if (op.outputs.size() > 1) inputs.push_back(Operand::of(op.outputs[1]));
  backward.contribute(op.inputs[0], backward.emit_like(forward, "Mul", inputs, op.inputs[0]));
}

void loss_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (!backward.wants(op, 0)) return;
  // The second output of ONNX' SoftmaxCrossEntropyLoss holds the log-probabilities.
  std::vector<Operand> inputs{backward.output_gradient(op),
                              op.outputs.size() > 1 ? Operand::of(op.outputs[1]) : op.inputs[0]};
  inputs.insert(inputs.end(), op.inputs.begin() + 1, op.inputs.end());
  backward.contribute(op.inputs[0], backward.emit_like(forward, op.type + "Grad", inputs, op.inputs[0]));
}

}  // namespace emplace
