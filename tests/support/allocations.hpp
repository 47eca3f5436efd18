// Counts the heap allocations of this program. Programs that use it are linked with allocations.cpp, which replaces
// operator new (`counts_allocations(test_...)` in their CMakeLists.txt).
#pragma once

#include <cstddef>

namespace emplace::test {

// The number of allocations so far.
std::size_t allocations();

// Bytes that are allocated now, and the most at any time since the last reset_peak().
std::size_t allocated_bytes();
std::size_t peak_bytes();
void reset_peak();

}  // namespace emplace::test
