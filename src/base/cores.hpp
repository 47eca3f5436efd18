// The cores that this process may run on, as its affinity mask allows (mpirun binds ranks, containers have cpusets).
#pragma once

#include <cstdint>
#include <vector>

namespace emplace {

// The numbers of these cores, in ascending order.
std::vector<std::int32_t> allowed_cores();

}  // namespace emplace
