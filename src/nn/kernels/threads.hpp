// Threads that networks are computed on. Their number changes no bit: what is divided among them are elements of
// results, each of which one thread computes as it would alone.
#pragma once

#include <cstddef>

namespace emplace::nn {

// How many threads a network uses, the caller's included: 1 at first. With more than one, only one network of the
// process may run at a time.
std::size_t threads();
// Not while a network runs. `count` is at least 1; std::system_error where they cannot be had, and then there is 1.
void use_threads(std::size_t count);

}  // namespace emplace::nn
