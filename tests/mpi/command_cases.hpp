#pragma once

#include "tests/mpi/cases.hpp"

namespace emplace::test {

int same_measurements(dist::World& world);
int programs_know_their_rank(dist::World& world);
int measure_for_ever(dist::World& world);
// Workers use a program that does not exist, whatever evaluator the master chose.
dist::EvaluatorFactory without_its_program(int rank);

}  // namespace emplace::test
