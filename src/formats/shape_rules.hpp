// Output shapes of ops whose operands' shapes and attributes determine them.
#pragma once

#include <optional>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

// The shape of output `position`, which may have unknown sizes; nullopt if there is no rule for the type.
std::optional<Shape> inferred_shape(const Graph& graph, const GraphOp& op, std::size_t position);

// Whether the open sizes of an input usually are the open sizes of the output: for types that rearrange elements
// ("Reshape"), select or reduce them ("Gather"), or are element-wise with an operand of unknown size ("Add").
bool rearranges(const GraphOp& op);
bool keeps_elements(const GraphOp& op);

}  // namespace emplace::formats
