// Samples drawn and gradients computed by other ranks.
#pragma once

#include "cases.hpp"

namespace emplace::test {

int same_samples_and_gradients(World& world);
int works_on_after_a_failure(World& world);
int slow_workers_draw_less(World& world);

}  // namespace emplace::test
