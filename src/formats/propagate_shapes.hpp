// Computes the sizes of tensors that a file leaves open, once the sizes of the model's inputs are given.
#pragma once

#include <span>
#include <string>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

// Fills unknown sizes, producers first; sizes that the file states are never changed. The result is exact for
// element-wise ops, products, convolutions, pooling and concatenation. If a rearrangement (Reshape, Transpose, Gather
// ...) depends on values that a Graph does not hold, or an element-wise op on an operand of unknown size, its open
// sizes are assumed to be those of its input in the same order, provided that their number is the same and, for
// rearrangements that keep all elements, the number of elements too; a warning counts these ops. All other sizes stay
// unknown. `stated` has the tensors' shapes before any input was fixed, from which it follows which sizes were open.
// InputError for a cycle.
void propagate_shapes(Graph& graph, std::span<const Shape> stated, const std::string& file);

}  // namespace emplace::formats
