// Counts the heap allocations of this program. Programs that use it are linked with allocations.cpp, which replaces
// operator new (`counts_allocations(test_...)` in their CMakeLists.txt).
#pragma once

#include <cstddef>

namespace emplace::test {

// The number of allocations so far.
std::size_t allocations();

}  // namespace emplace::test
