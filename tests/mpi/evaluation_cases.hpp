#pragma once

#include "cases.hpp"

namespace emplace::test {

int same_outcomes_fifo(World& world);
int same_outcomes_priority(World& world);
int same_outcomes_in_order(World& world);
int long_messages(World& world);
int slow_workers_get_less(World& world);
EvaluatorFactory uneven(int rank);
EvaluatorFactory echo(int rank);

}  // namespace emplace::test
