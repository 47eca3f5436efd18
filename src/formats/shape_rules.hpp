// Output shapes of ops whose operands' shapes and attributes determine them.
#pragma once

#include <optional>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

// Output `position`, as far as it is known; nullopt if there is no rule. May have unknown sizes.
std::optional<Shape> inferred_shape(const Graph& graph, const GraphOp& op, std::size_t position);

// Open sizes of an input usually stay the open sizes of the output: the same elements in another arrangement
// ("Reshape"), a choice or reduction of them ("Gather"), element-wise with an operand that is not known ("Add").
bool rearranges(const GraphOp& op);
bool keeps_elements(const GraphOp& op);

}  // namespace emplace::formats
