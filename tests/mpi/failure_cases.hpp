#pragma once

#include "cases.hpp"

namespace emplace::test {

int evaluate_for_ever(World& world);
int release_with_bad_input(World& world);
int throw_before_the_release(World& world);
int throw_between_batches(World& world);
int finish_while_workers_wait(World& world);
// Rank 1 throws: after twenty placements, the same with bad input, or when its evaluator is made.
EvaluatorFactory breaks(int rank);
EvaluatorFactory refuses_its_input(int rank);
EvaluatorFactory cannot_be_made(int rank);

}  // namespace emplace::test
