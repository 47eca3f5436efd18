// Sizes of tensors that a file leaves open, once sizes of its inputs are given.
#pragma once

#include <span>
#include <string>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

// Fills unknown sizes, producers first; what the file states is never changed. Exact for element-wise ops, products,
// convolutions, pooling and concatenation. Where a rearrangement (Reshape, Transpose, Gather ...) depends on values
// that a Graph does not hold, or an element-wise op on an operand of unknown size, its open sizes are taken to be those
// of its input in the same order, if their number is the same and, for rearrangements that keep all elements, the
// number of elements too; a warning says how many ops rest on that. All else stays unknown. `stated`: the tensors'
// shapes before any input was fixed, which tell what was open. InputError for a cycle.
void propagate_shapes(Graph& graph, std::span<const Shape> stated, const std::string& file);

}  // namespace emplace::formats
