#pragma once

#include "tests/mpi/cases.hpp"

namespace emplace::test {

int same_answers(dist::World& world);
int same_polish(dist::World& world);
int stopped_jobs(dist::World& world);
int throw_while_jobs_run(dist::World& world);
int more_batches_after_jobs(dist::World& world);

}  // namespace emplace::test
