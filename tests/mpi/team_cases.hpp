#pragma once

#include "cases.hpp"

namespace emplace::test {

int same_answers(World& world);
int stopped_jobs(World& world);
int throw_while_jobs_run(World& world);
int more_batches_after_jobs(World& world);

}  // namespace emplace::test
