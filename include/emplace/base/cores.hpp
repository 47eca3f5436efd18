// The cores that this process may run on: what its affinity allows (mpirun binds ranks, cpusets confine containers).
#pragma once

#include <cstdint>
#include <vector>

namespace emplace {

// Their numbers, ascending.
std::vector<std::int32_t> allowed_cores();

}  // namespace emplace
