// Threads that networks are computed on. Their number changes no bit: what is divided among them are elements of
// results, each of which one thread computes as it would alone.
#pragma once

#include <cstddef>

namespace emplace::nn {

// How many threads the process's networks use, the caller's included: 1 at first.
std::size_t threads();
// Not while another thread runs a network. `count` is at least 1; std::system_error where they cannot be had.
void use_threads(std::size_t count);

}  // namespace emplace::nn
