// Blocks of a model that ColocRL places as one by their names (docs/papers/colocrl.md, section 2.1, rule 3).
#pragma once

#include <string>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace {

// N: the name of the block that each op belongs to, or "":
//   - an unrolled time step: the part of the op's path up to its "stepN", as "encoder/0/forward/step3";
//   - a convolution block: the module of a convolution if it has no other one, else the convolution's own path, as
//     "Mixed_6b/7x1"; and the normalisations, activations and poolings that follow it one by one.
// The ops that a training step adds belong to the block of their op of the model: their names begin with "grad/",
// "update/", "variable/" or "framework/", in any number.
std::vector<std::string> model_blocks(const Problem& problem);

}  // namespace emplace
