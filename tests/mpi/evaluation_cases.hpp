#pragma once

#include "tests/mpi/cases.hpp"

namespace emplace::test {

int same_outcomes_fifo(dist::World& world);
int same_outcomes_priority(dist::World& world);
int same_outcomes_in_order(dist::World& world);
int long_messages(dist::World& world);
int slow_workers_get_less(dist::World& world);
dist::EvaluatorFactory uneven(int rank);
dist::EvaluatorFactory echo(int rank);

}  // namespace emplace::test
