// Groups of ranks that work in parallel.
#pragma once

#include "tests/mpi/cases.hpp"

namespace emplace::test {

int parts_of_a_job(dist::World& world);

}  // namespace emplace::test
