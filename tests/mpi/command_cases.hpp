#pragma once

#include "cases.hpp"

namespace emplace::test {

int same_measurements(World& world);
int programs_know_their_rank(World& world);
int measure_for_ever(World& world);
// Whatever the master says, workers look for a program that is not there.
EvaluatorFactory without_its_program(int rank);

}  // namespace emplace::test
