#include <algorithm>

#include "graph/training/gradients.hpp"

namespace emplace {

namespace {

void like_input(Backward& backward, OpId forward, const char* type, Backward::Attributes attributes = {}) {
  const GraphOp op = backward.op(forward);
  if (!backward.wants(op, 0)) return;
  backward.contribute(op.inputs[0], backward.emit_like(forward, type, {backward.output_gradient(op)}, op.inputs[0],
                                                       std::move(attributes)));
}

}  // namespace

void reshape_gradient(Backward& backward, OpId forward) { like_input(backward, forward, "Reshape"); }
void cast_gradient(Backward& backward, OpId forward) { like_input(backward, forward, "Cast"); }
void slice_gradient(Backward& backward, OpId forward) { like_input(backward, forward, "Pad"); }
void pad_gradient(Backward& backward, OpId forward) { like_input(backward, forward, "Slice"); }

void transpose_gradient(Backward& backward, OpId forward) {
  Backward::Attributes attributes;
  const GraphOp op = backward.op(forward);
  if (const auto found = op.attributes.find("perm"); found != op.attributes.end())
    if (const auto* perm = std::get_if<std::vector<std::int64_t>>(&found->second)) {
      std::vector<std::int64_t> inverse(perm->size(), 0);
      for (std::size_t i = 0; i < perm->size(); ++i)
        if ((*perm)[i] >= 0 && static_cast<std::size_t>((*perm)[i]) < inverse.size())
          inverse[static_cast<std::size_t>((*perm)[i])] = static_cast<std::int64_t>(i);
      attributes["perm"] = std::move(inverse);
    }
  like_input(backward, forward, "Transpose", std::move(attributes));
}

void concat_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  std::vector<Operand> wanted;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (backward.wants(op, i)) wanted.push_back(op.inputs[i]);
  if (wanted.empty()) return;
  const auto parts = backward.emit_several(forward, "Split", {backward.output_gradient(op)}, wanted, op.attributes);
  for (std::size_t i = 0; i < wanted.size(); ++i) backward.contribute(wanted[i], parts[i]);
}

void split_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (!backward.wants(op, 0)) return;
  std::vector<Operand> parts;
  // A part without a gradient is zero: it needs no operand.
  for (std::size_t i = 0; i < op.outputs.size(); ++i) parts.push_back(backward.output_gradient(op, i));
  Backward::Attributes attributes;
  if (const auto axis = op.attributes.find("axis"); axis != op.attributes.end()) attributes.insert(*axis);
  backward.contribute(op.inputs[0], backward.emit_like(forward, "Concat", parts, op.inputs[0], attributes));
}

void gather_gradient(Backward& backward, OpId forward) {
  const GraphOp op = backward.op(forward);
  if (!backward.wants(op, 0) || op.inputs.size() < 2) return;
  const Operand dy = backward.output_gradient(op), data = backward.behind(op.inputs[0]), indices = op.inputs[1];
  const auto axis = op.attributes.find("axis");
  const auto* value = axis == op.attributes.end() ? nullptr : std::get_if<std::int64_t>(&axis->second);
  if (data.is_parameter() && (value == nullptr || *value == 0))
    backward.contribute_rows(forward, data, dy, indices);
  else
    backward.contribute(data, backward.emit_like(forward, "GatherGrad", {dy, indices}, data, op.attributes));
}

}  // namespace emplace
