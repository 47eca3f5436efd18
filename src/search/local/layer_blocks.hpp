// Blocks of a model that begin a search: its layers, or units that exchange many bytes.
#pragma once

#include <cstddef>

#include "emplace/base/random.hpp"
#include "emplace/problem/grouping.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::search {

// One block for each layer of the model (Problem::layer), with all its time steps, forward and backward, and one for
// what is in no layer; units of a layer that other devices can run than the rest are a block of their own. A unit is in
// the layer of its first op that has one.
Grouping layer_blocks(const Problem& problem, const Grouping& units);

// `units` merged until at most `at_most` remain, those first that exchange most bytes times a random factor.
Grouping random_blocks(const Problem& problem, const Grouping& units, std::size_t at_most, Stream random);

}  // namespace emplace::search
