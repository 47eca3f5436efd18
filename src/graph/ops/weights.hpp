// Which parameters of a graph are weights of the model, as frameworks count them.
#pragma once

#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace {

// For each parameter, whether its elements are weights: numbers that training finds. Files hold other constants too,
// and most formats do not mark them, so that this goes by what they are. No weights are
// - whole numbers of 16 bits or more, and truth values: sizes, axes, indices, masks (narrower ones are quantised
// weights);
// - scalars: coefficients such as an epsilon, from which the rare learned scalar cannot be told;
// - running means and variances of batch normalisation, which frameworks call buffers, and the scales of Resize;
// - parameters marked as `folded` or `no_weight`.
[[nodiscard]] std::vector<bool> find_weights(const Graph& graph);

}  // namespace emplace
