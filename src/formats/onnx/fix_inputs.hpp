// Sizes that --shape and --batch give, for formats whose files state the shapes inside the graph.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

// Fills the open sizes of an input. InputError for a wrong rank, for sizes below 1, and for a size that is fixed
// otherwise in the file: the shapes inside the graph belong to it.
void fix_shape(Shape& shape, std::span<const std::int64_t> sizes, const std::string& input, const std::string& file);
// Fills an open first size; false if there is none.
bool fix_batch(Shape& shape, std::int64_t batch, const std::string& file);
// InputError if the input has a size of 0: a model that is fed with nothing computes nothing. For formats whose inputs
// are ops; Graph::validate asks the same of the others.
void check_input(const Shape& shape, const std::string& input, const std::string& file);

// " (did you mean 'x'?)" or "; there are: 'x', 'y'".
std::string known_inputs(const std::string& wanted, std::span<const std::string> inputs);
void warn_unused_batch(std::int64_t batch, const std::string& file);

}  // namespace emplace::formats
