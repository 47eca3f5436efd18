// The placer `learned`: a trained policy's placements, improved by local search.
#pragma once

namespace emplace::experiment {

// Adds `learned` to the placers; later calls do nothing.
void register_learned_placer();

}  // namespace emplace::experiment
