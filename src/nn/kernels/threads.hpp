// The threads on which networks are computed. Results are bitwise equal for any number of threads: only the elements of
// results are divided among them, and each element is computed by one thread, as it would be without others.
#pragma once

#include <cstddef>

namespace emplace::nn {

// The number of threads that a network uses, the caller's included; initially 1. With more than one, only one network
// in the process may run at a time.
std::size_t threads();
// Must not be called while a network runs. `count` is at least 1. std::system_error if the threads cannot be created;
// then there is 1.
void use_threads(std::size_t count);

}  // namespace emplace::nn
