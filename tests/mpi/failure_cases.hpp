#pragma once

#include "tests/mpi/cases.hpp"

namespace emplace::test {

int evaluate_for_ever(dist::World& world);
int release_with_bad_input(dist::World& world);
int throw_before_the_release(dist::World& world);
int throw_between_batches(dist::World& world);
int finish_while_workers_wait(dist::World& world);
// Factories of evaluators that throw on rank 1: after twenty placements, after twenty placements because of bad input,
// or when they are made.
dist::EvaluatorFactory breaks(int rank);
dist::EvaluatorFactory refuses_its_input(int rank);
dist::EvaluatorFactory cannot_be_made(int rank);

}  // namespace emplace::test
