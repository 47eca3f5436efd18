// Applies the sizes of --shape and --batch, for formats whose files state the shapes inside the graph.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

// Fills the open sizes of an input. InputError for a wrong rank, for sizes below 1, and for a size that differs from a
// fixed one of the file, on which the shapes inside the graph depend.
void fix_shape(Shape& shape, std::span<const std::int64_t> sizes, const std::string& input, const std::string& file);
// Sets the first size if it is open; returns false if it is not.
bool fix_batch(Shape& shape, std::int64_t batch, const std::string& file);
// InputError if the input has a size of 0, since a model cannot compute with an empty input. For formats whose inputs
// are ops; Graph::validate checks the inputs of other formats.
void check_input(const Shape& shape, const std::string& input, const std::string& file);

// " (did you mean 'x'?)" or "; there are: 'x', 'y'".
std::string known_inputs(const std::string& wanted, std::span<const std::string> inputs);
void warn_unused_batch(std::int64_t batch, const std::string& file);

}  // namespace emplace::formats
