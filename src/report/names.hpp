// Names to print for parts of a Problem that have no name or a name too long for a table.
#pragma once

#include <string>
#include <string_view>

#include "emplace/problem/problem.hpp"

namespace emplace::report {

// Tensors are named after their producer: "conv1", or "split:0", "split:1" where it makes several.
std::string tensor_name(const Problem& problem, TensorId tensor);

// The name for a table's cell: control characters escaped, at most `width` characters, the middle left out
// ("model/...ul_3").
std::string cell_name(std::string_view name, std::size_t width = 44);

// "12.3 %", or "<0.1 %" for a share above 0 that rounds to 0.
std::string percent(double share);

}  // namespace emplace::report
