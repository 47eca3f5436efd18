// Counts what this program takes from the heap. Programs that ask are linked with allocations.cpp, which replaces
// operator new (`counts_allocations(test_...)` in their CMakeLists.txt).
#pragma once

#include <cstddef>

namespace emplace::testing {

// So far.
std::size_t allocations();

}  // namespace emplace::testing
