// Blocks of a model that begin a search: its layers.
#pragma once

#include "emplace/problem/grouping.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::search {

// One block for each layer of the model (Problem::layer), with all its time steps, forward and backward, and one for
// what is in no layer; units of a layer that other devices can run than the rest are a block of their own. A unit is in
// the layer of its first op that has one.
Grouping layer_blocks(const Problem& problem, const Grouping& units);

}  // namespace emplace::search
