// Which inner loops networks run on. All sets but `reference` give the same bits: every element of a product is one
// chain of fused multiply-adds over the inner dimension, every sum along a row runs in 64 bytes of lanes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace emplace::nn {

enum class KernelSet : std::uint8_t { reference, plain, avx2, avx512 };

std::string_view name_of(KernelSet set);
// What this processor runs, the fastest last. `reference` is Eigen and the standard library's functions, for tests and
// comparison.
std::vector<KernelSet> kernel_sets();
// The set in use, for the whole process: at first the fastest.
KernelSet kernel_set();
// Not while another thread runs a network; what was made for decoding or put on a tape before is void.
void use_kernel_set(KernelSet set);

}  // namespace emplace::nn
