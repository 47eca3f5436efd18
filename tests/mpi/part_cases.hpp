// Groups of ranks that work side by side.
#pragma once

#include "cases.hpp"

namespace emplace::test {

int parts_of_a_job(World& world);

}  // namespace emplace::test
