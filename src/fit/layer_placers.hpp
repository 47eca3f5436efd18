// The greedy rules as placers of any problem whose ops name their layers.
#pragma once

#include "emplace/search/placer.hpp"

namespace emplace::fit {

// Adds fill-in-order and proportional to the list of placers.
void register_layer_placers();

}  // namespace emplace::fit
