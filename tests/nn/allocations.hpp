// Counts what this program takes from the heap: allocations.cpp replaces operator new.
#pragma once

#include <cstddef>

namespace emplace::nn::testing {

// So far.
std::size_t allocations();

}  // namespace emplace::nn::testing
