#pragma once

#include "tests/mpi/cases.hpp"

namespace emplace::test {

int same_measurements(dist::World& world);
int programs_know_their_rank(dist::World& world);
int measure_for_ever(dist::World& world);
// Whatever the master says, workers look for a program that is not there.
dist::EvaluatorFactory without_its_program(int rank);

}  // namespace emplace::test
