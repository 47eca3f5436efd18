#include "formats/propagate_shapes.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "formats/shape_rules.hpp"

namespace emplace::formats {

namespace {

// Fills the unknown sizes of `shape` with those of `found`; changes nothing if two known sizes differ.
void refine(Shape& shape, const Shape& found) {
  if (!found.ranked) return;
  if (!shape.ranked) {
    shape = found;
    return;
  }
  if (shape.dims.size() != found.dims.size()) return;
  for (std::size_t i = 0; i < shape.dims.size(); ++i)
    if (shape.dims[i] >= 0 && found.dims[i] >= 0 && shape.dims[i] != found.dims[i]) return;
  for (std::size_t i = 0; i < shape.dims.size(); ++i)
    if (shape.dims[i] < 0) shape.dims[i] = found.dims[i];
}

// The sizes of a tensor that the file leaves open and that are known now.
std::vector<std::int64_t> open_sizes(const Shape& stated, const Shape& now) {
  std::vector<std::int64_t> sizes;
  if (!stated.ranked || stated.dims.size() != now.dims.size()) return sizes;
  for (std::size_t i = 0; i < stated.dims.size(); ++i)
    if (stated.dims[i] < 0) sizes.push_back(now.dims[i]);
  return sizes;
}

// Fills the sizes of the output that the file leaves open with those of the first input that has as many open sizes.
bool keep_open_sizes(Graph& graph, const GraphOp& op, std::span<const Shape> stated) {
  Shape& output = graph.tensors[op.outputs[0].index()].shape;
  const Shape& stated_output = stated[op.outputs[0].index()];
  if (output.is_static() || !stated_output.ranked) return false;
  for (const Operand& input : op.inputs) {
    if (!input.is_tensor() || !graph.tensors[input.index].shape.is_static()) continue;
    const Shape& from = graph.tensors[input.index].shape;
    const std::vector<std::int64_t> sizes = open_sizes(stated[input.index], from);
    Shape filled = stated_output;
    const auto open = std::count_if(filled.dims.begin(), filled.dims.end(), [](std::int64_t size) { return size < 0; });
    if (sizes.empty() || static_cast<std::size_t>(open) != sizes.size()) continue;
    std::size_t next = 0;
    for (std::int64_t& size : filled.dims)
      if (size < 0) size = sizes[next++];
    if (keeps_elements(op) && filled.elements() != from.elements()) return false;
    refine(output, filled);
    return output.is_static();
  }
  return false;
}

// If all sizes but one are known, computes that one from the number of elements.
bool complete(Shape& output, const Shape& from) {
  const auto elements = from.elements();
  if (!elements || !output.ranked || std::count(output.dims.begin(), output.dims.end(), Shape::unknown_dimension) != 1)
    return false;
  Shape known = output;
  std::erase(known.dims, Shape::unknown_dimension);
  const auto product = known.elements();
  if (!product || *product == 0 || *elements % *product != 0) return false;
  std::replace(output.dims.begin(), output.dims.end(), Shape::unknown_dimension, *elements / *product);
  return true;
}

}  // namespace

void propagate_shapes(Graph& graph, std::span<const Shape> stated, const std::string& file) {
  std::size_t assumed = 0;
  for (const OpId id : graph.topological_order(file)) {
    const GraphOp& op = graph.ops[id.index()];
    for (std::size_t k = 0; k < op.outputs.size(); ++k) {
      Shape& shape = graph.tensors[op.outputs[k].index()].shape;
      if (shape.is_static()) continue;
      if (const auto found = inferred_shape(graph, op, k)) refine(shape, *found);
    }
    if (!rearranges(op) || op.outputs.empty()) continue;
    Shape& output = graph.tensors[op.outputs[0].index()].shape;
    const bool completed = keeps_elements(op) && !op.inputs.empty() && op.inputs[0].is_tensor() &&
                           complete(output, graph.tensors[op.inputs[0].index].shape);
    if (!completed && keep_open_sizes(graph, op, stated)) ++assumed;
  }
  if (assumed > 0)
    log_warning(
        "{}: {} ops (Reshape, Transpose, Gather ...) are assumed to keep the open sizes of their input in their order",
        file, assumed);
}

}  // namespace emplace::formats
