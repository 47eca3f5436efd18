// Generates many bits of a random stream at once; one function for each instruction set that is compiled in.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emplace {

// Writes `count` 16-bit halves of Philox's words to `out`, from the block of `counter` on. `key` has 2 words, `counter`
// has 4.
using FillBlocks = void(const std::uint32_t* key, const std::uint32_t* counter, std::uint16_t* out, std::size_t count);
FillBlocks fill_blocks_plain, fill_blocks_avx2, fill_blocks_avx512;

}  // namespace emplace
