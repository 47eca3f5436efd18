// Output shapes of ops that follow from the values of constants: axes, permutations, target shapes.
#pragma once

#include <optional>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

// The shape of the op's first output, which may have unknown sizes; nullopt if there is no rule for the type, or if the
// constant's value is not known (constant_attribute) or does not fit the input.
std::optional<Shape> shape_by_value(const Graph& graph, const GraphOp& op);

}  // namespace emplace::formats
