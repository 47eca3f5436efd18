// What a person calls the things of a Problem that have no name of their own, or one too long for a table.
#pragma once

#include <string>
#include <string_view>

#include "emplace/problem/problem.hpp"

namespace emplace::report {

// Tensors are named after their producer: "conv1", or "split:0", "split:1" where it makes several.
std::string tensor_name(const Problem& problem, TensorId tensor);

// The name fit for a cell: control characters escaped, at most `width` characters, the middle left out
// ("model/...ul_3").
std::string cell_name(std::string_view name, std::size_t width = 44);

// "12.3 %", "<0.1 %" for what is not 0 but rounds to it.
std::string percent(double share);

// The word as a shell reads it back.
std::string shell_word(const std::string& word);

}  // namespace emplace::report
