// Samples drawn and gradients computed by other ranks.
#pragma once

#include "cases.hpp"

namespace emplace::test {

int same_samples_and_gradients(World& world);
int works_on_after_a_failure(World& world);
int slow_workers_draw_less(World& world);
int master_that_cannot_read_gradients(World& world);
int master_that_cannot_deal_chunks(World& world);
int worker_that_cannot_learn(World& world);
int draw_for_ever(World& world);
// What a worker does that does not know what it is asked for.
int answer_something_else(World& world);
int failures_in_a_part(World& world);

}  // namespace emplace::test
