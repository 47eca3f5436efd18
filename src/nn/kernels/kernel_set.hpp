// The set of inner loops that networks use. All sets but `reference` give bitwise equal results: every element of a
// product is one chain of fused multiply-adds over the inner dimension, and every sum along a row is computed in 64
// bytes of lanes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace emplace::nn {

enum class KernelSet : std::uint8_t { reference, plain, avx2, avx512 };

std::string_view name_of(KernelSet set);
// The sets that this processor can run, the fastest last. `reference` uses Eigen and the standard library's functions,
// for tests and comparison.
std::vector<KernelSet> kernel_sets();
// The set in use by the whole process; initially the fastest.
KernelSet kernel_set();
// Must not be called while another thread runs a network. Everything that was made for decoding or put on a tape before
// becomes invalid.
void use_kernel_set(KernelSet set);

}  // namespace emplace::nn
