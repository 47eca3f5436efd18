// Samples drawn and gradients computed by other ranks.
#pragma once

#include "tests/mpi/cases.hpp"

namespace emplace::test {

int same_samples_and_gradients(dist::World& world);
int works_on_after_a_failure(dist::World& world);
int slow_workers_draw_less(dist::World& world);
int master_that_cannot_read_gradients(dist::World& world);
int master_that_cannot_deal_chunks(dist::World& world);
int worker_that_cannot_learn(dist::World& world);
int draw_for_ever(dist::World& world);
// A worker that answers requests with another kind of message.
int answer_something_else(dist::World& world);
int failures_in_a_part(dist::World& world);

}  // namespace emplace::test
