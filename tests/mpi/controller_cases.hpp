// Cases about asynchronous controllers.
#pragma once

#include "tests/mpi/cases.hpp"

namespace emplace::test {

int one_controller_has_synchronous_bits(dist::World& world);
int controllers_of_unequal_speed(dist::World& world);
int controllers_are_stopped(dist::World& world);
int controllers_fail_in_a_part(dist::World& world);
int controller_that_breaks(dist::World& world);

// Evaluates rightly; rank 2 takes a while for each placement. With two controllers and three ranks it is the second
// controller, with more ranks it is the worker of the first one.
dist::EvaluatorFactory slow_on_rank_2(int rank);
dist::EvaluatorFactory very_slow_on_rank_2(int rank);
// Evaluates rightly; rank 2 fails in its first batch.
dist::EvaluatorFactory breaks_on_rank_2(int rank);

}  // namespace emplace::test
